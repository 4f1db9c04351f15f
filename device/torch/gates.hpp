#pragma once

#include <cstdint>

/// The element loops of one step of a recurrence, for one sequence: rows of `n` numbers, one after
/// the other where several parts are meant.
namespace moxzi::device::torch {

/// What an rnn's step does to `gate`, which becomes the new state; `before`, if not null, gets the
/// old one.
template <class T>
void rnn_step(int64_t n, T* gate, T* h, T* before);
/// `gates` are the three from x, which become r, z and n; `own` those from the state. `kept`, if
/// not null, gets the state's part of n and the old state.
template <class T>
void gru_step(int64_t n, T* gates, const T* own, T* h, T* kept);
/// `gates` become i, f, g and o; `kept`, if not null, gets the old cell, tanh of the new one, and
/// the old state.
template <class T>
void lstm_step(int64_t n, T* gates, T* h, T* c, T* kept);

/// Adds to the gradient of a state what reaches it from outside, unless that is null.
template <class T>
void add_gradient(int64_t n, T* dh, const T* more);
/// The gradient of an rnn's gate.
template <class T>
void rnn_step_back(int64_t n, const T* kept, const T* dh, T* slope);
/// The gradients of gru's gates as x and as the state sees them; `dh` becomes what reaches the old
/// state past them.
template <class T>
void gru_step_back(int64_t n, const T* kept, T* dh, T* outer, T* inner);
/// The gradients of lstm's gates; `dc` becomes that of the old cell.
template <class T>
void lstm_step_back(int64_t n, const T* kept, const T* dh, T* dc, T* slopes);

} // namespace moxzi::device::torch
