// The text of device/operations.hpp and .cpp and of docs/ops.md. Written anew by
//   MOXZI_WRITE_INTERFACE=1 ctest --preset release -R operations_text

#include "device/generate/operations_text.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "device/generate/operations_page.hpp"
#include "device/ops/table.hpp"

namespace moxzi::device {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void expect_stored(const std::string& name, const std::string& text) {
  const std::string path = MOXZI_SOURCE_DIR "/" + name;
  if (std::getenv("MOXZI_WRITE_INTERFACE")) std::ofstream{path, std::ios::binary} << text;
  std::ifstream file{path, std::ios::binary};
  const std::string stored{std::istreambuf_iterator<char>{file}, {}};
  EXPECT_TRUE(stored == text) << path << " is out of date; write it anew with\n"
                              << "  MOXZI_WRITE_INTERFACE=1 ctest --preset release -R "
                                 "operations_text";
}

TEST(operations_text, the_files_say_what_the_table_says) {
  expect_stored("device/operations.hpp", operations_header(table()));
  expect_stored("device/operations.cpp", operations_source(table()));
  expect_stored("docs/ops.md", operations_page(table()));
}

/// A row of every kind of field.
const std::vector<row>& rows_of_all_kinds() {
  static const std::vector<row> rows{
    {.id = op::random,
     .name = "random",
     .sentence = "Numbers drawn anew.",
     .reference = "the interface",
     .fields = {{"shape", field_kind::nat32s},
                {"dtype", field_kind::dtype, true},
                {"seed", field_kind::nat64, true}}},
    {.id = op::concat,
     .name = "concat",
     .sentence = "The values one after the other along `dim`.",
     .reference = "torch.cat",
     .fields = {{"xs", field_kind::regs}, {"dim", field_kind::nat32}}},
    {.id = op::add,
     .name = "add",
     .sentence = "a + b.",
     .reference = "torch.add",
     .fields = {{"a", field_kind::reg}, {"b", field_kind::reg}}},
    {.id = op::conv,
     .name = "conv",
     .sentence = "A convolution.",
     .reference = "torch.nn.functional.conv2d",
     .fields = {{"x", field_kind::reg},
                {"w", field_kind::reg},
                {"b", field_kind::opt_reg, true},
                {"stride", field_kind::nat32s, true},
                {"eps", field_kind::float64, true},
                {"mask", field_kind::opt_reg, true},
                {"reduce", field_kind::choice, true, {"mean", "sum", "none"}},
                {"causal", field_kind::boolean, true},
                {"diagonal", field_kind::int32}}},
    {.id = op::nll,
     .name = "nll",
     .sentence = "A loss.",
     .reference = "torch.nn.functional.nll_loss",
     .fields = {{"x", field_kind::reg},
                {"name", field_kind::text},
                {"ignore_index", field_kind::int64, true},
                {"reduce", field_kind::choice, true, {"mean", "sum", "none"}}}},
    {.id = op::l1,
     .name = "l1",
     .sentence = "A loss with other choices.",
     .reference = "torch.nn.functional.l1_loss",
     .fields = {{"x", field_kind::reg}, {"reduce", field_kind::choice, false, {"all", "default"}}}},
    {.id = op::second_of, .name = "second_of", .sentence = "Internal.", .fields = {}},
  };
  return rows;
}

TEST(operations_text, a_call_takes_the_fields_of_its_row) {
  const auto header = operations_header(rows_of_all_kinds());
  EXPECT_THAT(header, HasSubstr("  /// Numbers drawn anew.\n"
                                "  var random(std::vector<uint32_t> shape, const random_options& "
                                "options = {});\n"));
  EXPECT_THAT(header, HasSubstr("struct random_options {\n"
                                "  std::optional<device::dtype> dtype = {};\n"
                                "  std::optional<uint64_t> seed = {};\n"
                                "};\n"));
  EXPECT_THAT(header, HasSubstr("/// As torch.cat.\n"
                                "var concat(const std::vector<var>& xs, uint32_t dim);\n"));
  EXPECT_THAT(header, HasSubstr("var conv(var x, var w, int32_t diagonal, std::optional<var> b = "
                                "{},\n    const conv_options& options = {});\n"));
  EXPECT_THAT(header, HasSubstr("struct conv_options {\n"
                                "  std::optional<std::vector<uint32_t>> stride = {};\n"
                                "  std::optional<double> eps = {};\n"
                                "  std::optional<var> mask = {};\n"
                                "  std::optional<reduce_choice> reduce = {};\n"
                                "  std::optional<bool> causal = {};\n"
                                "};\n"));
  EXPECT_THAT(header, Not(HasSubstr("second_of")));
}

TEST(operations_text, equal_choices_are_one_enumeration_and_other_ones_another) {
  const auto header = operations_header(rows_of_all_kinds());
  EXPECT_THAT(header, HasSubstr("enum class reduce_choice : int64_t { mean, sum, none };\n"));
  EXPECT_THAT(header, HasSubstr("enum class l1_reduce_choice : int64_t { all, default_ };\n"));
  EXPECT_THAT(header, HasSubstr("var l1(var x, l1_reduce_choice reduce);\n"));
}

TEST(operations_text, a_call_collects_in_the_order_of_the_fields) {
  const auto source = operations_source(rows_of_all_kinds());
  EXPECT_THAT(source, HasSubstr("operation_call(op::random, in_)"
                                ".with(shape).with(options.dtype).with(options.seed).made();\n"));
  EXPECT_THAT(source, HasSubstr("operation_call(op::conv).on(x).on(w).on(b)"
                                ".with(options.stride).with(options.eps)"));
}

TEST(operations_text, signs_are_there_when_their_rows_are) {
  const auto header = operations_header(rows_of_all_kinds());
  EXPECT_THAT(header, HasSubstr("inline var operator+(var x, var y) {\n  return add(x, y);\n}\n"));
  EXPECT_THAT(header, Not(HasSubstr("operator-")));
  EXPECT_THAT(header, Not(HasSubstr("var y, double")));
}

} // namespace
} // namespace moxzi::device
