import Timer "mo:core/Timer";

// Counts by itself: a timer calls `tick` ten times a second until it is stopped.
persistent actor Clock {
  var ticks = 0;

  func tick() : async () { ticks += 1 };

  transient var id : ?Timer.TimerId = ?Timer.recurringTimer<system>(#milliseconds 100, tick);

  public query func count() : async Nat { ticks };

  public func stop() : async Nat {
    switch id {
      case (?running) Timer.cancelTimer(running);
      case null {};
    };
    id := null;
    ticks;
  };

  public func start() : async () {
    if (id == null) id := ?Timer.recurringTimer<system>(#milliseconds 100, tick);
  };
};
