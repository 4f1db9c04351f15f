import Array "mo:core/Array";

// The notes of `notes.mo`, and a title that they did not have.
persistent actor Notes {
  var notes : [Text] = [];
  var title : Text = "untitled";

  public func add(note : Text) : async Nat {
    notes := Array.concat(notes, [note]);
    notes.size();
  };

  public func rename(name : Text) : async () { title := name };

  public query func all() : async [Text] { notes };

  public query func headline() : async Text { title };
};
