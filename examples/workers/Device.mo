// What the workers need of the device's interface.
module {
  public type Tensor = { data : Blob; elem : { #f32 }; shape : [Nat32] };
  public type Op = {
    #input : Nat32;
    #param : Text;
    #linear : { x : Nat32; w : Nat32 };
    #mse : { a : Nat32; b : Nat32 };
  };
  public type Device = actor {
    moxzi_device_params : ([{ name : Text; shape : [Nat32]; init : { #constant : Float } }]) -> async ();
    moxzi_device_optimizer : ({
      name : Text; params : [Text]; lr : Float;
      beta1 : Float; beta2 : Float; eps : Float; weight_decay : Float; kind : ?{ #sgd };
    }) -> async ();
    moxzi_device_run : ({
      inputs : [Tensor];
      program : [Op];
      train : ?{ loss : Nat32; optimizer : Text };
      scalars : [Nat32];
      tensors : [Nat32];
    }) -> async { scalars : [Float] };
    moxzi_device_read : ({ names : [Text] }) -> async [{ name : Text; tensor : Tensor }];
  };
};
