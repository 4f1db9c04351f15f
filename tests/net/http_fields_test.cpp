#include "net/http_fields.hpp"

#include <gtest/gtest.h>

using namespace moxzi::net;

TEST(http_fields, a_local_host_is_a_name_or_number_of_this_machine) {
  for (auto host : {"localhost", "LOCALHOST:7000", "127.0.0.1", "127.0.0.1:80", "127.9.9.9",
                    "[::1]", "[::1]:7000"})
    EXPECT_TRUE(is_local_host(host)) << host;
  for (auto host :
       {"", ":", "example.org", "localhost.example.org", "127.0.0.1.example.org", "127.example.org",
        "128.0.0.1", "[::2]:7000", "[::1", "xlocalhost", "localhost@example.org",
        "localhost:7000.example.org", "localhost:", "127.0.0.1:80:80", "[::1]:x", "[::1]x"})
    EXPECT_FALSE(is_local_host(host)) << host;
}

TEST(http_fields, a_version_is_named_at_the_end_of_the_request_line) {
  EXPECT_TRUE(names_a_version("GET / HTTP/2.0\r\n"));
  EXPECT_TRUE(names_a_version("PRI * HTTP/2.0\r\n"));
  for (auto line : {"", "GET", "GET /", "GET / HTTP/1", "GET / http/1.1", "GET / HTTP/1.1 "})
    EXPECT_FALSE(names_a_version(line)) << line;
}
