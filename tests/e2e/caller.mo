import Error "mo:core/Error";
import Text "mo:core/Text";

// Calls a server outside, and shows what comes through its transform function.
persistent actor Caller {
  type Header = { name : Text; value : Text };
  type Response = { status : Nat; headers : [Header]; body : Blob };
  type Management = actor {
    http_request : ({
      url : Text;
      max_response_bytes : ?Nat64;
      method : { #get; #head; #post };
      headers : [Header];
      body : ?Blob;
      transform : ?{
        function : shared query ({ response : Response; context : Blob }) -> async Response;
        context : Blob;
      };
    }) -> async Response;
    ecdsa_public_key : ({
      canister_id : ?Principal;
      derivation_path : [Blob];
      key_id : { curve : { #secp256k1 }; name : Text };
    }) -> async { public_key : Blob; chain_code : Blob };
    sign_with_ecdsa : ({
      message_hash : Blob;
      derivation_path : [Blob];
      key_id : { curve : { #secp256k1 }; name : Text };
    }) -> async { signature : Blob };
  };
  transient let management : Management = actor "aaaaa-aa";

  // Without the headers, which differ from call to call, and marked.
  public query func clean(given : { response : Response; context : Blob }) : async Response {
    {
      status = given.response.status;
      headers = [{ name = "context"; value = switch (Text.decodeUtf8(given.context)) { case (?t) t; case null "" } }];
      body = given.response.body;
    };
  };

  public func post(url : Text, body : Text) : async { status : Nat; headers : [Header]; body : Text } {
    let response = await management.http_request({
      url;
      max_response_bytes = ?2000;
      method = #post;
      headers = [{ name = "X-Test"; value = "1" }];
      body = ?Text.encodeUtf8(body);
      transform = ?{ function = clean; context = "\6d\61\72\6b" };
    });
    {
      status = response.status;
      headers = response.headers;
      body = switch (Text.decodeUtf8(response.body)) { case (?t) t; case null "" };
    };
  };

  public func fails(url : Text) : async { code : Text; message : Text } {
    try {
      ignore await management.http_request({
        url; max_response_bytes = null; method = #get; headers = []; body = null; transform = null;
      });
      { code = "none"; message = "" };
    } catch e {
      {
        code = switch (Error.code(e)) {
          case (#system_fatal) "fatal";
          case (#system_transient) "transient";
          case (#canister_reject) "reject";
          case _ "other";
        };
        message = Error.message(e);
      };
    };
  };

  public func sign(hash : Blob) : async { key : Blob; signature : Blob } {
    let key_id = { curve = #secp256k1; name = "test_key_1" };
    let key = await management.ecdsa_public_key({ canister_id = null; derivation_path = ["\01"]; key_id });
    let signed = await (with cycles = 30_000_000_000) management.sign_with_ecdsa({
      message_hash = hash; derivation_path = ["\01"]; key_id;
    });
    { key = key.public_key; signature = signed.signature };
  };
};
