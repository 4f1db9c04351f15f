#pragma once

#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>

#include "actors/candid/did_parser.hpp"
#include "actors/candid/encode.hpp"
#include "actors/candid/json.hpp"
#include "actors/replay.hpp"
#include "actors/wasm/wasm_code.hpp"
#include "tests/actors/hosting/hosting_fixture.hpp"

namespace moxzi::actors::testing {

/// What the compiler made of a fixture.
inline byte_string motoko(const std::string& name) {
  std::ifstream file{MOXZI_MOTOKO_DIR "/" + name + ".wasm", std::ios::binary};
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// The same compiled, once for all tests.
inline code_ptr motoko_code(const std::string& name) {
  static std::map<std::string, code_ptr> made;
  auto& code = made[name];
  if (!code) {
    code = std::make_shared<const wasm_code>(*fixture_factory::engine()->compile(motoko(name)));
  }
  return code;
}

/// A Candid argument from JSON.
inline byte_string candid_of(const std::string& types, const std::string& json) {
  const auto parsed = candid::parse_types(types);
  EXPECT_TRUE(parsed);
  const auto values = candid::json_to_values(*parsed, json);
  EXPECT_TRUE(values);
  return *candid::encode(*parsed, *values);
}

/// A node on whose pool the compiler's output runs.
class motoko_fixture : public hosting_fixture {
protected:
  motoko_fixture() {
    unit = &*on_pool;
  }

  void host(const std::string& name, const std::string& module,
            byte_string argument = byte_string{"DIDL\0\0", 6}) {
    lifecycle::install_code install;
    install.argument = std::move(argument);
    const auto report = start_with(name, prepared_code{motoko_code(module)}, std::move(install));
    ASSERT_TRUE(report.installed) << report.failure;
    know(module);
  }

  /// The module's code is found in replays.
  void know(const std::string& module) {
    modules_.insert_or_assign(motoko_code(module)->hash(), motoko_code(module));
  }

  std::string query(const std::string& name, const std::string& method) {
    return post(name, method, "[]", net::call_kind::query).body;
  }

  /// Replays the actor's records on a fresh body.
  void expect_replays(const std::string& name) {
    auto again = settings;
    again.self = principal::of_actor(name);
    const auto body = factory.make_body(again.self);
    const auto outcome = replay(journal.records(), again, *body, [this](const sha256_hash& hash) {
      return result<code_ptr>{modules_.at(hash)};
    });
    EXPECT_TRUE(outcome) << name << ": " << outcome.error().message;
  }

  std::map<sha256_hash, code_ptr> modules_;
};

} // namespace moxzi::actors::testing
