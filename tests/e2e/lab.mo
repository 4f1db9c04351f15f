// Passes whatever it is given on to the device, so that a test can send any program over HTTP.
persistent actor {
  type Op = {
    #input : Nat32;
    #param : Text;
    #narrow : { x : Nat32; dim : Nat32; start : Nat32; len : Nat32 };
    #reshape : { x : Nat32; shape : [Nat32] };
    #embedding : { table : Nat32; ids : Nat32 };
    #linear : { x : Nat32; w : Nat32 };
    #cross_entropy : { logits : Nat32; targets : Nat32 };
  };
  type Elem = { #u8; #i8; #u16; #i16; #u32; #i32; #i64; #f32; #f64; #bool };
  type Tensor = { data : Blob; elem : Elem; shape : [Nat32] };
  type Param = { name : Text; shape : [Nat32]; init : { #normal : Float; #data : Tensor } };
  type Optimizer = {
    name : Text; params : [Text]; lr : Float;
    beta1 : Float; beta2 : Float; eps : Float; weight_decay : Float; kind : ?{ #adamw; #adam };
  };
  type Run = {
    inputs : [Tensor];
    program : [Op];
    train : ?{ loss : Nat32; optimizer : Text; clip : ?Float; lr : ?Float; also : ?[Text] };
    scalars : [Nat32];
    tensors : [Nat32];
  };
  type Device = actor {
    moxzi_device_params : ([Param]) -> async ();
    moxzi_device_optimizer : (Optimizer) -> async ();
    moxzi_device_run : (Run) -> async { scalars : [Float]; tensors : [Tensor] };
  };
  transient let device : Device = actor "aaaaa-aa";

  public func params(list : [Param]) : async () { await device.moxzi_device_params(list) };
  public func optimizer(one : Optimizer) : async () { await device.moxzi_device_optimizer(one) };
  public func run(what : Run) : async { scalars : [Float]; tensors : [Tensor] } {
    await device.moxzi_device_run(what)
  };
}
