// `Child` as it became.
persistent actor class Child(name : Text) {
  var count : Int = 0;
  public query func get() : async (Text, Int) { (name # "!", count) };
  public func inc() : async Int { count += 10; count };
};
