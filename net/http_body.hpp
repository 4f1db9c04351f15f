#pragma once

#include <cstdint>
#include <string>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional.hpp>

namespace moxzi::net {

/// A body in a string that grows with what really came: an announced length reserves nothing.
/// (Beast's `string_body` takes the announced length at its word.)
struct http_body {
  using value_type = std::string;

  class reader {
  public:
    template <bool IsRequest, class Fields>
    reader(boost::beast::http::header<IsRequest, Fields>&, value_type& body) : body_(body) {
      // nop
    }
    void init(const boost::optional<uint64_t>&, boost::system::error_code& ec) {
      ec = {};
    }
    template <class Buffers>
    size_t put(const Buffers& buffers, boost::system::error_code& ec) {
      size_t size = 0;
      for (auto piece : boost::beast::buffers_range_ref(buffers)) {
        body_.append(static_cast<const char*>(piece.data()), piece.size());
        size += piece.size();
      }
      ec = {};
      return size;
    }
    void finish(boost::system::error_code& ec) {
      ec = {};
    }

  private:
    value_type& body_;
  };
};

} // namespace moxzi::net
