// What a Motoko actor may do, each in a method of its own; the answers are in ../tour.py.
import Cycles "mo:core/Cycles";
import Error "mo:core/Error";
import IC "mo:core/InternetComputer";
import Nat "mo:core/Nat";
import Prim "mo:⛔";
import Principal "mo:core/Principal";
import Random "mo:core/Random";
import Region "mo:core/Region";
import Runtime "mo:core/Runtime";
import Time "mo:core/Time";
import Timer "mo:core/Timer";
import VarArray "mo:core/VarArray";

persistent actor Self {
  type Code = Error.ErrorCode;
  func show(e : Error.Error) : Text {
    let word = switch (Error.code e) {
      case (#system_fatal) "fatal";
      case (#system_transient) "transient";
      case (#destination_invalid) "destination";
      case (#canister_reject) "reject";
      case (#canister_error) "error";
      case (#system_unknown) "unknown";
      case (#call_error { err_code }) "call " # debug_show err_code;
      case (#future _) "future";
    };
    word # ": " # Error.message e;
  };

  // Errors.
  public func reject(text : Text) : async () { throw Error.reject text };
  public func trap(text : Text) : async () { Runtime.trap text };
  public func divide(n : Nat) : async Nat { 1 / n };
  public func rejected() : async Text { try { await reject "no"; "nothing" } catch e { show e } };
  public func trapped() : async Text { try { await trap "oh"; "nothing" } catch e { show e } };
  public func divided() : async Text { try { ignore await divide 0; "nothing" } catch e { show e } };
  public func nobody() : async Text {
    let none : actor { f : () -> async () } = actor "rrkah-fqaaa-aaaaa-aaaaq-cai";
    try { await none.f(); "nothing" } catch e { show e };
  };
  public func no_method() : async Text {
    let bad : actor { nothing : () -> async () } = actor (debug_show (Principal.fromActor Self));
    try { await bad.nothing(); "nothing" } catch e { show e };
  };
  public func no_management() : async Text {
    let bad : actor { nothing : () -> async () } = actor "aaaaa-aa";
    try { await bad.nothing(); "nothing" } catch e { show e };
  };
  public func misread() : async Text {
    let bad : actor { reject : Nat -> async () } = actor (debug_show (Principal.fromActor Self));
    try { await bad.reject 1; "nothing" } catch e { show e };
  };
  public func blocks() : async (Text, Text) {
    let thrown = async { ignore await divide 1; throw Error.reject "in a block" };
    let trapped = async { ignore await divide 1; assert false };
    (try { await thrown; "" } catch e { show e }, try { await trapped; "" } catch e { debug_show (Error.code e) });
  };
  public func finals() : async Text {
    var marks = "";
    try { try { await reject "x" } finally { marks #= "f" } } catch _ { marks #= "c" };
    func star() : async* Nat { try { ignore await divide 1; return 5 } finally { marks #= "s" } };
    ignore await* star();
    label walk for (i in [1, 2, 3].vals()) {
      try { ignore await divide i; if (i == 2) break walk } finally { marks #= debug_show i };
    };
    marks;
  };
  public func waits() : async Text { try { await (with timeout = 1) turns(); "" } catch e { show e } };
  public func turns() : async () { let begin = Time.now(); while (Time.now() - begin < 4_000_000_000) { ignore await divide 1 } };
  public func deadlines() : async (Bool, Bool) { (await (with timeout = 5) has_deadline(), await has_deadline()) };
  public func has_deadline() : async Bool { IC.replyDeadline() != null };

  // Calls.
  type Function = shared Nat -> async Nat;
  public func twice(n : Nat) : async Nat { 2 * n };
  public func apply(f : Function, n : Nat) : async Nat { await f n };
  public func called_back() : async Nat { await apply(twice, 21) };
  public shared ({ caller }) func who() : async Principal { caller };
  public func self_called() : async Bool { (await who()) == Principal.fromActor Self };
  public func chain(n : Nat) : async Nat { if (n == 0) 0 else 1 + (await chain(n - 1)) };
  public func fan(n : Nat) : async Text {
    let calls = VarArray.repeat<?(async Nat)>(null, n);
    var refused = "";
    try { for (i in Nat.range(0, n)) calls[i] := ?twice i } catch e { refused := show e };
    var sum = 0;
    for (call in calls.vals()) { switch call { case (?c) sum += await c; case null {} } };
    if (refused == "") debug_show sum else refused;
  };
  transient var marks = "";
  public func mark(text : Text) : async () { marks #= text };
  public func order() : async Text { marks := ""; let a = mark "a"; let b = mark "b"; let c = mark "c"; await c; await b; await a; marks };
  public func raw() : async ?Nat { from_candid (await IC.call(Principal.fromActor Self, "twice", to_candid (4 : Nat))) };
  transient var heard = 0;
  public func say(n : Nat) : () { heard += n; if (n > 1) Runtime.trap "heard" };
  public func said() : async Nat { say 1; say 5; ignore await twice 1; ignore await twice 1; heard };

  // Cycles.
  public func take(n : Nat) : async (Nat, Nat) { let offered = Cycles.available(); (offered, Cycles.accept<system> n) };
  public func take_and_trap() : async () { ignore Cycles.accept<system> 10; assert false };
  public func gives() : async ((Nat, Nat), Nat) { let a = await (with cycles = 100) take 30; (a, Cycles.refunded()) };
  public func gives_all() : async ((Nat, Nat), Nat) { let a = await (with cycles = 100) take 3_000; (a, Cycles.refunded()) };

  // The rest of the system.
  public func counters() : async (Bool, Bool) {
    let whole = Prim.performanceCounter 1;
    ignore await twice 1;
    (Prim.performanceCounter 1 > whole, Prim.performanceCounter 0 < Prim.performanceCounter 1);
  };
  public func versions() : async Bool { let before = Prim.canisterVersion(); ignore await twice 1; Prim.canisterVersion() > before };
  public func random() : async (Nat, Bool) { let a = await Random.blob(); (a.size(), a != (await Random.blob())) };
  public func certify(n : Nat) : async Bool { CertifiedDataSet n; Prim.getCertificate() == null };
  func CertifiedDataSet(n : Nat) { Prim.setCertifiedData(Prim.arrayToBlob(Prim.Array_tabulate<Nat8>(n, func _ = 7))) };
  public func variables() : async [Text] { Prim.envVarNames<system>() };
  public func controls() : async (Bool, Bool) { (Prim.isController(Principal.fromActor Self), Prim.isReplicatedExecution()) };
  let region = Region.new();
  public func region_grows() : async (Nat64, Nat64, Nat64) {
    let before = Region.grow(region, 3);
    Region.storeNat64(region, 3 * 65_536 - 8, 77);
    (before, Region.size region, Region.loadNat64(region, 3 * 65_536 - 8));
  };
  public func region_limit() : async Bool { Region.grow(region, 10_000_000) == 0xFFFF_FFFF_FFFF_FFFF };
  public func region_beyond() : async Nat8 { Region.loadNat8(region, 65_536 * 1_000) };
  public func dive(n : Nat) : async Nat { func d(i : Nat) : Nat = if (i == 0) 0 else 1 + d(i - 1); d n };
  transient var held : [[var Nat64]] = [];
  public func hold(megawords : Nat) : async Nat { held := Prim.Array_tabulate<[var Nat64]>(megawords, func _ = Prim.Array_init<Nat64>(1_000_000, 1)); held.size() };
  public func release() : async Nat { held := []; held.size() };
  public query func spin() : async () { loop {} };

  // Timers.
  transient var once = 0;
  transient var many = 0;
  transient var cancelled = 0;
  transient var trapping = 0;
  transient var nested = 0;
  transient var recurring = 0;
  public func start() : async () {
    ignore Timer.setTimer<system>(#milliseconds 10, func() : async () { once += 1 });
    Timer.cancelTimer(Timer.setTimer<system>(#milliseconds 10, func() : async () { cancelled += 1 }));
    recurring := Timer.recurringTimer<system>(#milliseconds 10, func() : async () { many += 1; if (many == 5) Timer.cancelTimer recurring });
    ignore Timer.setTimer<system>(#milliseconds 10, func() : async () { nested += 1; ignore await twice 1; ignore Timer.setTimer<system>(#nanoseconds 0, func() : async () { nested += 10 }) });
    ignore Timer.setTimer<system>(#milliseconds 10, func() : async () { trapping += 1; assert false });
  };
  public query func ticked() : async (Nat, Nat, Nat, Nat, Nat) { (once, many, cancelled, nested, trapping) };
};
