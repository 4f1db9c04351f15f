// Passes what it is given on to the device: parameters, an optimizer, steps, and what is read,
// written, renamed, listed and forgotten.
persistent actor {
  type Tensor = { data : Blob; elem : { #f32; #f64; #f16; #i32 }; shape : [Nat32] };
  type Param = {
    name : Text; shape : [Nat32]; seed : ?Nat64;
    dtype : ?{ #f32; #f64; #bf16 };
    init : { #ones; #eye; #xavier_uniform : Float; #kaiming_normal : Float; #orthogonal : Float;
             #trunc_normal : { std : Float; cut : Float }; #data : Tensor };
  };
  type Optimizer = {
    name : Text; params : [Text]; lr : Float;
    beta1 : Float; beta2 : Float; eps : Float; weight_decay : Float;
    kind : ?{ #adamw; #sgd; #lion; #muon };
    schedule : ?{ #constant; #warmup : { steps : Nat64 };
                  #cosine : { warmup : Nat64; total : Nat64; floor : Float } };
    no_decay : ?[Text];
  };
  type Run = {
    inputs : [Tensor];
    program : [{ #input : Nat32; #param : Text; #reshape : { x : Nat32; shape : [Nat32] };
                 #linear : { x : Nat32; w : Nat32 } }];
    train : ?{ loss : Nat32; optimizer : Text; accumulate : ?Bool; skip_nonfinite : ?Bool };
    scalars : [Nat32];
    tensors : [Nat32];
  };
  type Entry = { name : Text; shape : [Nat32]; dtype : { #f32; #f64; #f16; #bf16; #i32; #i64; #u8; #bool }; bytes : Nat64 };
  type Listing = {
    params : [Entry];
    optimizers : [{ name : Text; params : [Text]; step : Nat64; lr : Float }];
  };
  type Device = actor {
    moxzi_device_params : ([Param]) -> async ();
    moxzi_device_optimizer : (Optimizer) -> async ();
    moxzi_device_run : (Run) -> async { step : ?Nat64; skipped : ?Bool };
    moxzi_device_read : ({ names : [Text]; start : ?Nat64; len : ?Nat64 }) -> async [{ name : Text; tensor : Tensor }];
    moxzi_device_write : ([{ name : Text; tensor : Tensor; start : ?Nat64 }]) -> async ();
    moxzi_device_rename : ([{ from : Text; to : Text }]) -> async ();
    moxzi_device_delete : ({ params : ?[Text]; everything : ?Bool }) -> async ();
    moxzi_device_list : () -> async Listing;
    moxzi_device_info : () -> async { kind : Text; actor_bytes : Nat64 };
  };
  transient let device : Device = actor "aaaaa-aa";

  public func params(list : [Param]) : async () { await device.moxzi_device_params(list) };
  public func optimizer(one : Optimizer) : async () { await device.moxzi_device_optimizer(one) };
  public func run(what : Run) : async { step : ?Nat64; skipped : ?Bool } {
    await device.moxzi_device_run(what)
  };
  public func read(names : [Text], start : ?Nat64, len : ?Nat64) : async [{ name : Text; tensor : Tensor }] {
    await device.moxzi_device_read({ names; start; len })
  };
  public func write(entries : [{ name : Text; tensor : Tensor; start : ?Nat64 }]) : async () {
    await device.moxzi_device_write(entries)
  };
  public func rename(from : Text, to : Text) : async () {
    await device.moxzi_device_rename([{ from; to }])
  };
  public func forget(params : ?[Text], everything : ?Bool) : async () {
    await device.moxzi_device_delete({ params; everything })
  };
  public func list() : async Listing { await device.moxzi_device_list() };
  public func info() : async { kind : Text; actor_bytes : Nat64 } {
    await device.moxzi_device_info()
  };
}
