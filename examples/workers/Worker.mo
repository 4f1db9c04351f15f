import Device "Device";

// A worker: one model of its own, trained on the device. Each worker is an actor with a principal
// of its own, and so with a space of its own on the device: all call their parameter "w".
persistent actor class Worker(lr : Float) {
  transient let device : Device.Device = actor "aaaaa-aa";

  // Little-endian f32: x = 1, 2, 3, 4 and y = 3 x.
  let x : Blob = "\00\00\80\3f\00\00\00\40\00\00\40\40\00\00\80\40";
  let y : Blob = "\00\00\40\40\00\00\c0\40\00\00\10\41\00\00\40\41";

  let program : [Device.Op] = [
    #input 0,                        // 0: x, [4, 1]
    #input 1,                        // 1: y, [4, 1]
    #param "w",                      // 2: [1, 1]
    #linear { x = 0; w = 2 },        // 3: w x
    #mse { a = 3; b = 1 },           // 4: the loss, 7.5 (w - 3)^2
  ];

  public func train(steps : Nat) : async { first : Float; last : Float } {
    await device.moxzi_device_params([{ name = "w"; shape = [1, 1]; init = #constant 0.0 }]);
    await device.moxzi_device_optimizer({
      name = "sgd"; params = ["w"]; lr;
      beta1 = 0.0; beta2 = 0.0; eps = 1e-8; weight_decay = 0.0; kind = ?#sgd;
    });
    var first = 0.0;
    var last = 0.0;
    var i = 0;
    while (i < steps) {
      let run = await device.moxzi_device_run({
        inputs = [{ data = x; elem = #f32; shape = [4, 1] }, { data = y; elem = #f32; shape = [4, 1] }];
        program;
        train = ?{ loss = 4; optimizer = "sgd" };
        scalars = [4];
        tensors = [];
      });
      if (i == 0) first := run.scalars[0];
      last := run.scalars[0];
      i += 1;
    };
    { first; last };
  };

  // The four bytes of w.
  public func weight() : async Blob {
    let read = await device.moxzi_device_read({ names = ["w"] });
    read[0].tensor.data;
  };
};
