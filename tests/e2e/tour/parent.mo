// Makes actors and manages them, each in a method of its own; the answers are in ../tour.py.
import Child "Child";
import Cycles "mo:core/Cycles";
import Error "mo:core/Error";
import Grown "Grown";
import Prim "mo:⛔";
import Principal "mo:core/Principal";

persistent actor Self {
  type Id = { canister_id : Principal };
  transient let queries : actor {
    canister_status : query Id -> async { cycles : Nat };
    raw_rand : query () -> async Blob;
    stop_canister : query Id -> async ();
  } = actor "aaaaa-aa";
  transient let management : actor {
    create_canister : { settings : ?{ controllers : ?[Principal] } } -> async Id;
    stop_canister : Id -> async ();
    start_canister : Id -> async ();
    delete_canister : Id -> async ();
    uninstall_code : Id -> async ();
    deposit_cycles : Id -> async ();
    canister_status : Id -> async { version : Nat64; query_stats : { num_calls_total : Nat } };
    update_settings : { canister_id : Principal; settings : {}; sender_canister_version : ?Nat64 } -> async ();
    take_canister_snapshot : Id -> async { id : Blob };
    load_canister_snapshot : { canister_id : Principal; snapshot_id : Blob } -> async ();
  } = actor "aaaaa-aa";
  var child : ?Child.Child = null;
  func it() : Child.Child { switch child { case (?c) c; case null Prim.trap "no child" } };
  func id() : Id { { canister_id = Principal.fromActor(it()) } };
  func code(e : Error.Error) : Text { debug_show (Error.code e) };

  public func make(cycles : Nat) : async Text { try { child := ?(await (with cycles) Child.Child "a"); "made" } catch e { code e } };
  public func install() : async Text {
    let { canister_id } = await (with cycles = 2_000_000_000_000) management.create_canister({ settings = null });
    child := ?(await (system Child.Child)(#install canister_id)("b"));
    debug_show (await it().get());
  };
  public func inc() : async Text { try { debug_show (await it().inc()) } catch e { code e } };
  public func get() : async Text { debug_show (await it().get()) };
  public func upgrade() : async Text { debug_show (await (await (system Grown.Child)(#upgrade (it()))("c")).get()) };
  public func replace() : async Text { debug_show (await (await (system Grown.Child)(#upgrade_with_persistence { wasm_memory_persistence = #replace; canister = it() })("c")).get()) };
  public func reinstall() : async Text { debug_show (await (await (system Child.Child)(#reinstall (it()))("d")).get()) };
  public func stop() : async Text { try { await management.stop_canister(id()); "stopped" } catch e { code e } };
  public func start() : async Text { try { await management.start_canister(id()); "started" } catch e { code e } };
  public func delete() : async Text { try { await management.delete_canister(id()); "deleted" } catch e { code e } };
  public func uninstall() : async Text { try { await management.uninstall_code(id()); "empty" } catch e { code e } };
  public func deposit(cycles : Nat) : async Nat { await (with cycles) management.deposit_cycles(id()); Cycles.refunded() };
  public func versioned(offset : Nat64) : async Text {
    try { await management.update_settings({ canister_id = Principal.fromActor(it()); settings = {}; sender_canister_version = ?(Prim.canisterVersion() + offset) }); "set" } catch e { code e };
  };
  var kept : Blob = "";
  public func keep() : async () { kept := (await management.take_canister_snapshot(id())).id };
  public func back() : async () { await management.load_canister_snapshot({ canister_id = Principal.fromActor(it()); snapshot_id = kept }) };
  public func asked() : async Nat { (await management.canister_status(id())).query_stats.num_calls_total };
  public composite query func looks() : async (Bool, (Text, Nat)) { ((await queries.canister_status(id())).cycles > 0, await it().get()) };
  public composite query func draws() : async Text { try { ignore await queries.raw_rand(); "drawn" } catch e { code e } };
  public composite query func stops() : async Text { try { await queries.stop_canister(id()); "stopped" } catch e { code e } };
};
