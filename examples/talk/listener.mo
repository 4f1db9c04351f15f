import Error "mo:core/Error";
import Counter "canister:counter";

// Calls the counter, which calls back.
persistent actor Listener {
  var heard : [Nat] = [];

  public func told(n : Nat) : async () {
    heard := [n];
  };

  public func listen() : async () { await Counter.subscribe(told) };

  // The counter's answer, and what it told on the way.
  public func run(n : Nat) : async { answer : Nat; heard : [Nat] } {
    let answer = await Counter.add(n);
    { answer; heard };
  };

  // What becomes of a call that traps.
  public func fail(n : Nat) : async { message : Text; value : Nat } {
    let message = try { await Counter.addThenTrap(n); "no error" } catch e { Error.message(e) };
    { message; value = await Counter.get() };
  };
};
