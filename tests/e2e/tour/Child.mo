// An actor that another one makes.
persistent actor class Child(name : Text) {
  var count : Nat = 0;
  public query func get() : async (Text, Nat) { (name, count) };
  public func inc() : async Nat { count += 1; count };
};
