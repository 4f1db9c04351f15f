// Counts, and tells whoever subscribed.
persistent actor Counter {
  var value = 0;
  transient var listeners : ?(shared Nat -> async ()) = null;

  public func subscribe(listener : shared Nat -> async ()) : async () {
    listeners := ?listener;
  };

  public func add(n : Nat) : async Nat {
    value += n;
    switch listeners {
      case (?tell) await tell(value);
      case null {};
    };
    value;
  };

  // What came before the first await stays, whatever happens after it.
  public func addThenTrap(n : Nat) : async () {
    value += n;
    switch listeners {
      case (?tell) await tell(value);
      case null {};
    };
    value += 1000;
    assert false;
  };

  public query func get() : async Nat { value };
};
