import Array "mo:core/Array";

// Keeps notes. `notes_2.mo` is what it becomes later.
persistent actor Notes {
  var notes : [Text] = [];

  public func add(note : Text) : async Nat {
    notes := Array.concat(notes, [note]);
    notes.size();
  };

  public query func all() : async [Text] { notes };
};
