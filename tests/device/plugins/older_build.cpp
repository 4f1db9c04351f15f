// A plugin of another build: it must be refused before anything else of it is called.

#include <cstdint>
#include <cstdlib>

extern "C" {

uint32_t moxzi_device_plugin_version() {
  return 0;
}

void* moxzi_device_open(const void*, void*) {
  std::abort();
}

} // extern "C"
