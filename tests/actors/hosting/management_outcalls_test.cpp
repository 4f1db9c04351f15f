#include <gmock/gmock.h>

#include "tests/actors/hosting/managed_node.hpp"
#include "tests/net/scripted_server.hpp"

// Outcalls as an actor sees them. The test stands for the actor, its transform function included.

namespace moxzi::actors::management {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ManagementOutcalls : public actors::testing::managed_node {
protected:
  ManagementOutcalls()
      : server([this](const std::string&) { return answer; }), client([] {
          net::outcall_options options;
          options.policy = net::outcall_policy::any;
          options.timeout_ms = 5'000;
          return options;
        }()) {
    management_set_up.outcalls = &client;
    begin();
  }

  std::string get(const std::string& more = {}, const std::string& url = {}) {
    return ask("http_request", arguments(more, url));
  }
  std::string arguments(const std::string& more, const std::string& url = {}) {
    return "(record { url = \"" + (url.empty() ? server.url() : url)
           + "\"; method = variant { get }; headers = vec {}; " + more + " })";
  }

  /// Makes a call as the actor would; `transform` answers the request that its function gets.
  std::string get_transformed(const std::string& more,
                              std::function<call_answer(const call_request&)> transform) {
    caf::scoped_actor self{*system};
    call_request request;
    request.identity = {principal::of_actor("tester"), 1, ++sequence};
    request.method = "http_request";
    request.argument =
      encode("http_request", arguments("transform = opt record { function = func \""
                                       + principal::of_actor("tester").to_text()
                                       + "\".clean; context = blob \"ctx\" }; " + more));
    self->send(management, deliver_request{principal{}, std::move(request),
                                           caf::actor_cast<caller_actor>(self)});
    self->receive(
      [&](deliver_request& what) {
        seen = what.request;
        self->send(what.reply_to,
                   call_response{what.request.identity, transform(what.request), {}, {}});
      },
      caf::after(actors::testing::patience) >> [] { ADD_FAILURE() << "no transform"; });
    call_response response;
    self->receive([&](call_response& what) { response = std::move(what); },
                  caf::after(actors::testing::patience) >> [] { ADD_FAILURE() << "no response"; });
    return text_of("http_request", response);
  }

  std::string answer = net::testing::http_response("hello", "X-A: b\r\n");
  net::testing::scripted_server server;
  net::outcall_client client;
  call_request seen;
};

TEST_F(ManagementOutcalls, TheResponseIsTheReply) {
  EXPECT_THAT(get(), AllOf(HasSubstr("status = 200"), HasSubstr("body = blob \"hello\""),
                           HasSubstr("name = \"X-A\""), HasSubstr("value = \"b\"")));
}

TEST_F(ManagementOutcalls, FailuresSayWhetherTheyMayPass) {
  answer = "no http";
  EXPECT_THAT(get(), StartsWith("1 MX111: http_request: "));
  answer = net::testing::http_response(std::string(1'000, 'x'));
  EXPECT_THAT(get("max_response_bytes = opt 999"),
              AllOf(StartsWith("1 MX111"), HasSubstr("more than 999 bytes")));
  EXPECT_THAT(get("max_response_bytes = opt 2000001"), StartsWith("1 MX110"));
  EXPECT_THAT(get("", "http://127.0.0.1:1"), StartsWith("2 MX210"));
  EXPECT_THAT(get("", "ftp://127.0.0.1"), StartsWith("4 MX408"));
}

TEST_F(ManagementOutcalls, TheTransformFunctionDecidesWhatTheCallerSees) {
  const auto& types = method_types::get();
  const auto& called = *types.transform_service.find("transform");
  const auto text = get_transformed("", [&](const call_request& request) -> call_answer {
    auto values = candid::decode(request.argument, called.arguments);
    EXPECT_TRUE(values);
    auto given = types.transform.args.read(std::move(values->front()));
    EXPECT_EQ(given.context, "ctx");
    EXPECT_EQ(given.response.body, "hello");
    given.response.body = "clean";
    given.response.headers.clear();
    writer out;
    out.raw(called.results.header);
    types.transform.reply.append(out, given.response);
    return reply_value{out.take()};
  });
  EXPECT_THAT(text, AllOf(HasSubstr("body = blob \"clean\""), HasSubstr("headers = vec {}")));
  EXPECT_EQ(seen.method, "clean");
  EXPECT_EQ(seen.mode, request_mode::transform);
  EXPECT_TRUE(seen.identity.caller.is_management());
}

TEST_F(ManagementOutcalls, ATransformThatFailsOrGivesTooMuchIsAReject) {
  const auto fails = [](const call_request&) -> call_answer {
    return rejected(reject_code::canister_error, "MX503", "Canister x trapped: no");
  };
  EXPECT_THAT(get_transformed("", fails),
              AllOf(StartsWith("5 MX505"), HasSubstr("'clean' failed: Canister x trapped: no")));
  const auto nonsense = [](const call_request&) -> call_answer { return reply_value{"DIDL\0\0"}; };
  EXPECT_THAT(get_transformed("", nonsense), StartsWith("5 MX505"));
  const auto much = [](const call_request&) -> call_answer {
    return reply_value{byte_string(600, 'x')};
  };
  EXPECT_THAT(get_transformed("max_response_bytes = opt 500", much),
              AllOf(StartsWith("5 MX505"), HasSubstr("gave 600 bytes")));
}

TEST_F(ManagementOutcalls, AFunctionOfSomebodyElseIsRefused) {
  const auto other = principal::of_actor("other").to_text();
  EXPECT_THAT(
    get("transform = opt record { function = func \"" + other + "\".clean; context = blob \"\" }"),
    StartsWith("4 MX408"));
}

} // namespace
} // namespace moxzi::actors::management
