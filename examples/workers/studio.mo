import Array "mo:core/Array";
import Principal "mo:core/Principal";
import Worker "Worker";

// Makes workers, actors like itself, and has each train a model.
persistent actor Studio {
  type Losses = { first : Float; last : Float };

  var workers : [Worker.Worker] = [];

  // Makes one worker for each rate, and gives it cycles of its own to start with.
  public func hire(rates : [Float]) : async [Principal] {
    var made : [Worker.Worker] = [];
    for (lr in rates.vals()) {
      let worker = await (with cycles = 1_000_000_000_000) Worker.Worker(lr);
      made := Array.concat(made, [worker]);
    };
    workers := Array.concat(workers, made);
    Array.map<Worker.Worker, Principal>(made, func w = Principal.fromActor(w));
  };

  // All of them train at the same time.
  public func train(steps : Nat) : async [Losses] {
    var running : [async Losses] = [];
    for (worker in workers.vals()) running := Array.concat(running, [worker.train(steps)]);
    var results : [Losses] = [];
    for (one in running.vals()) results := Array.concat(results, [await one]);
    results;
  };

  public func weights() : async [Blob] {
    var all : [Blob] = [];
    for (worker in workers.vals()) all := Array.concat(all, [await worker.weight()]);
    all;
  };

  public query func size() : async Nat { workers.size() };
};
