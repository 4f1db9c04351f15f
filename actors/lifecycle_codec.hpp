#pragma once

#include "actors/record_payload.hpp"
#include "base/codec.hpp"

/// How what is asked of an actor is written in its records. Used by `record_payload` only.
namespace moxzi::actors {

void put(writer& out, cycles value);
cycles get_cycles(reader& in);
principal get_principal(reader& in);

void put_created(writer& out, const create_input& created);
create_input get_created(reader& in);

/// `install_code` or any other change.
void put_change(writer& out, const change_input& change);
change_input get_installation(reader& in);
change_input get_change(reader& in);

} // namespace moxzi::actors
