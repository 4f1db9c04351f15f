#include "actors/daemon/daemon.hpp"
#include "actors/moxzid_options.hpp"

// moxzid: hosts the actors of a manifest and answers calls of them over HTTP.
int main(int argc, char** argv) {
  moxzi::actors::daemon_options options;
  if (auto ended = moxzi::actors::read_daemon_options(argc, argv, options)) return *ended;
  return moxzi::actors::run_daemon(options);
}
