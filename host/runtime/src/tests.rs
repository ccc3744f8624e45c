//! Calls of real components, each bad one followed by a good one on the same slot.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dormouse_policy::{FsGrant, FsMode, Grants, Limits};
use dormouse_protocol::{Answer, Listener, QuestionLimit, SessionClients, SessionId};
use dormouse_wit::Instance;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{
    Call, CallError, Callable, Cause, Code, GuestRequest, Phase, Runtime, Schemas, Slot, Target,
    Tool,
};

/// A component with one function for each way in which a call can end.
const ODD: &str = r#"
(component
  (core module $m
    (memory (export "mem") 1)
    (global $count (mut i32) (i32.const 0))
    (func (export "add") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1)))
    (func (export "spin") (loop $l (br $l)))
    (func (export "crash") unreachable)
    (func (export "count") (result i32)
      (global.set $count (i32.add (global.get $count) (i32.const 1)))
      (global.get $count))
    (func (export "eat") (drop (memory.grow (i32.const 60000))) unreachable)
  )
  (core instance $i (instantiate $m))
  (func (export "add") (param "a" u32) (param "b" u32) (result u32) (canon lift (core func $i "add")))
  (func (export "spin") (canon lift (core func $i "spin")))
  (func (export "crash") (canon lift (core func $i "crash")))
  (func (export "count") (result u32) (canon lift (core func $i "count")))
  (func (export "eat") (canon lift (core func $i "eat")))
)"#;

pub(super) fn runtime(cache: PathBuf) -> Runtime {
    Runtime::new(cache, crate::compiler::tests::command)
}

struct Silent;
impl Listener for Silent {
    fn progress(&self, _: f64, _: Option<f64>, _: Option<String>) {}
    fn log(&self, _: &'static str, _: Option<String>, _: Value) {}
}

struct Place {
    dir: TempDir,
    path: PathBuf,
    declaration: dormouse_wit::Declaration,
}

fn place() -> Place {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("odd.wasm");
    let bytes = wat::parse_str(ODD).unwrap();
    std::fs::write(&path, &bytes).unwrap();
    let declaration = dormouse_wit::source::from_component(&bytes)
        .unwrap()
        .declaration;
    Place {
        dir,
        path,
        declaration,
    }
}

/// Sessions whose clients cannot be told anything.
pub(super) struct NoClients;

impl SessionClients for NoClients {
    fn client(&self, _: SessionId) -> Option<Arc<dyn Listener>> {
        None
    }

    fn tell(&self, _: Option<SessionId>, _: &str, _: String) {}
}

impl Place {
    fn cache(&self) -> PathBuf {
        self.dir.path().join("cache")
    }

    fn target(&self) -> Target {
        Target {
            server: "odd".into(),
            code: Code::File(self.path.clone()),
            upstream: None,
            instance: Instance::PerCall,
            functions: self
                .declaration
                .tools
                .iter()
                .filter_map(|tool| tool.function.clone())
                .collect(),
            grants: Grants::default(),
            limits: Limits::default(),
            questions: QuestionLimit::new(8),
            settings: Map::new(),
            clients: Arc::new(NoClients),
        }
    }

    fn call(&self, tool: &str, arguments: Value) -> Call {
        let declared = self
            .declaration
            .tools
            .iter()
            .find(|found| found.name == tool)
            .unwrap();
        let object: Value = serde_json::from_str(declared.tool.get()).unwrap();
        Call {
            wanted: GuestRequest::Tool(Tool {
                name: tool.into(),
                callable: Arc::new(Callable {
                    function: declared.function.clone(),
                    schemas: Some(Schemas::new(object["inputSchema"].clone(), None)),
                }),
                arguments: arguments.as_object().unwrap().clone().into(),
            }),
            session: Some(SessionId(1)),
            cancel: CancellationToken::new(),
            listener: Arc::new(Silent),
        }
    }

    async fn good(&self, slot: &Arc<Slot>) {
        let result = slot
            .call(self.call("add", json!({ "a": 2, "b": 40 })))
            .await
            .unwrap();
        assert_eq!(
            result.get("structuredContent").as_deref(),
            Some(&json!({ "result": 42 }))
        );
    }
}

fn cause(result: Result<Answer, CallError>) -> Cause {
    result.unwrap_err().cause
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_made_before_the_first_call() {
    let place = place();
    let runtime = runtime(place.cache());
    let slot = runtime.slot(place.target());
    assert_eq!(runtime.counts().engines, 0);
    assert_eq!(slot.phase(), Phase::Known);
    assert!(!place.cache().exists());
    place.good(&slot).await;
    assert_eq!(
        (runtime.counts().engines, runtime.counts().compiled),
        (1, 1)
    );
    assert!(matches!(slot.phase(), Phase::Ready(_)));
}

/// A check that may take long waits for that of another call of its server, within its own time.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_check_has_to_wait_ends_in_time() {
    let place = place();
    let runtime = runtime(place.cache());
    let mut target = place.target();
    target.limits.timeout = Duration::from_millis(300);
    let slot = runtime.slot(target);
    let checking = slot.turns.checking().await;
    // Its schema has not been compiled.
    let call = place.call("add", json!({ "a": 2, "b": 40 }));
    assert!(matches!(
        cause(slot.call(call).await),
        Cause::Deadline { .. }
    ));
    drop(checking);
    place.good(&slot).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_guest_does_the_next_call_is_served() {
    let place = place();
    let runtime = runtime(place.cache());
    let mut target = place.target();
    target.limits.timeout = Duration::from_millis(300);
    target.limits.memory = 1 << 20;
    let slot = runtime.slot(target);
    assert!(matches!(
        cause(slot.call(place.call("spin", json!({}))).await),
        Cause::Deadline { .. }
    ));
    place.good(&slot).await;
    assert!(matches!(
        cause(slot.call(place.call("crash", json!({}))).await),
        Cause::Trap(_)
    ));
    place.good(&slot).await;
    assert!(matches!(
        cause(slot.call(place.call("eat", json!({}))).await),
        Cause::Memory { .. }
    ));
    place.good(&slot).await;
    let error = slot
        .call(place.call("add", json!({ "a": -1, "c": 0 })))
        .await
        .unwrap_err();
    let text = error.to_string();
    for part in [
        "server `odd`, tool `add`",
        "`/a`",
        "add(a: integer, b: integer)",
    ] {
        assert!(text.contains(part), "{text}");
    }
    place.good(&slot).await;
    assert_eq!(slot.instances(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_loop_ends_soon_while_others_go_on() {
    let place = place();
    let runtime = runtime(place.cache());
    let slot = runtime.slot(place.target());
    place.good(&slot).await;
    let call = place.call("spin", json!({}));
    let cancel = call.cancel.clone();
    let spinning = {
        let slot = Arc::clone(&slot);
        tokio::spawn(async move { slot.call(call).await })
    };
    tokio::time::sleep(Duration::from_millis(100)).await;
    place.good(&slot).await;
    let began = Instant::now();
    cancel.cancel();
    assert_eq!(cause(spinning.await.unwrap()), Cause::Cancelled);
    assert!(began.elapsed() < Duration::from_secs(1));
    place.good(&slot).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn state_is_forgotten_per_call_and_kept_per_session_until_a_trap() {
    let place = place();
    let runtime = runtime(place.cache());
    let count = async |slot: &Arc<Slot>, session| {
        let mut call = place.call("count", json!({}));
        call.session = Some(SessionId(session));
        let result = slot.call(call).await.unwrap().into_value().unwrap();
        result["structuredContent"]["result"].clone()
    };
    let fresh = runtime.slot(place.target());
    assert_eq!(
        (count(&fresh, 1).await, count(&fresh, 1).await),
        (json!(1), json!(1))
    );
    let mut target = place.target();
    target.instance = Instance::PerSession;
    let kept = runtime.slot(target);
    assert_eq!(
        (count(&kept, 1).await, count(&kept, 1).await),
        (json!(1), json!(2))
    );
    assert_eq!(count(&kept, 2).await, json!(1));
    assert_eq!(kept.instances(), 2);
    kept.end_session(SessionId(2));
    assert_eq!(kept.instances(), 1);
    assert!(kept.call(place.call("crash", json!({}))).await.is_err());
    assert_eq!(count(&kept, 1).await, json!(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_first_callers_share_one_start_and_a_cancelled_one_strands_nobody() {
    let place = Arc::new(place());
    let runtime = runtime(place.cache());
    let slot = runtime.slot(place.target());
    let first = place.call("add", json!({ "a": 1, "b": 1 }));
    first.cancel.cancel();
    let calls = (0..100).map(|_| {
        let (slot, place) = (Arc::clone(&slot), Arc::clone(&place));
        tokio::spawn(async move { place.good(&slot).await })
    });
    let calls: Vec<_> = calls.collect();
    let _ = slot.call(first).await;
    for call in calls {
        call.await.unwrap();
    }
    assert_eq!(
        (runtime.counts().compiled, runtime.counts().cache_hits),
        (1, 0)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_server_is_stopped_and_wakes_again() {
    let place = place();
    let runtime = runtime(place.cache());
    let mut target = place.target();
    target.instance = Instance::PerSession;
    target.limits.idle = Duration::from_millis(200);
    let slot = runtime.slot(target);
    place.good(&slot).await;
    assert_eq!(slot.instances(), 1);
    let deadline = Instant::now() + Duration::from_secs(10);
    while !matches!(slot.phase(), Phase::Idle(_)) {
        assert!(Instant::now() < deadline, "{:?}", slot.phase());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(slot.instances(), 0);
    place.good(&slot).await;
}

fn compiled(cache: &Path) -> PathBuf {
    let mut files = std::fs::read_dir(cache.join("components")).unwrap();
    files
        .find_map(|file| {
            Some(file.unwrap().path())
                .filter(|path| path.extension().is_some_and(|kind| kind == "cwasm"))
        })
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_cache_entry_is_compiled_again() {
    let place = place();
    place
        .good(&runtime(place.cache()).slot(place.target()))
        .await;
    let second = runtime(place.cache());
    place.good(&second.slot(place.target())).await;
    assert_eq!(
        (second.counts().compiled, second.counts().cache_hits),
        (0, 1)
    );
    let file = compiled(&place.cache());
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    // Another file under its name: the one that is mapped must not be cut.
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, bytes).unwrap();
    let third = runtime(place.cache());
    place.good(&third.slot(place.target())).await;
    assert_eq!((third.counts().compiled, third.counts().cache_hits), (1, 0));
    assert!(third.clean_cache().unwrap() > 0);
    assert_eq!(third.clean_cache().unwrap(), 0);
}

/// Copies a cache file by file, so that no mapped file is truncated.
fn copied(from: &Path, to: &Path) {
    let (from, to) = (from.join("components"), to.join("components"));
    dormouse_files::replace::make_folder(&to).unwrap();
    for file in std::fs::read_dir(from).unwrap() {
        let path = file.unwrap().path();
        std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

/// An entry that is not byte for byte the one that this user's Dormouse has kept, under this name
/// and with this key, is compiled again and replaced.
#[tokio::test(flavor = "multi_thread")]
async fn a_cache_entry_that_is_not_its_own_is_compiled_again() {
    let place = place();
    let kept = place.dir.path().join("kept");
    place
        .good(&runtime(kept.clone()).slot(place.target()))
        .await;
    // Another component with the same functions, and its entry.
    let other = place.dir.path().join("other");
    let path = place.dir.path().join("other.wasm");
    let code = ODD.replace("60000", "50000");
    std::fs::write(&path, wat::parse_str(code).unwrap()).unwrap();
    let mut target = place.target();
    target.code = Code::File(path);
    copied(&kept, &other);
    std::fs::remove_file(compiled(&other)).unwrap();
    place.good(&runtime(other.clone()).slot(target)).await;
    let code = std::fs::read(compiled(&kept)).unwrap();
    let of_other = std::fs::read(compiled(&other)).unwrap();
    assert_ne!(code, of_other);
    let mac = std::fs::read(compiled(&kept).with_extension("mac")).unwrap();
    let mac_of_other = std::fs::read(compiled(&other).with_extension("mac")).unwrap();
    let flipped = |bytes: &[u8], at: usize| {
        let mut bytes = bytes.to_vec();
        bytes[at] ^= 1;
        bytes
    };
    let [half, last] = [code.len() / 2, code.len() - 1];
    let (mut longer_code, mut longer_mac) = (code.clone(), mac.clone());
    longer_code.push(0);
    longer_mac.push(0);
    type Change<'c> = (&'c str, Vec<u8>);
    let mut changes: Vec<Change<'_>> = vec![
        ("cwasm", Vec::new()),
        ("cwasm", code[..half].to_vec()),
        ("cwasm", code[..last].to_vec()),
        ("cwasm", longer_code),
        ("cwasm", of_other.clone()),
        ("mac", Vec::new()),
        ("mac", mac[..31].to_vec()),
        ("mac", longer_mac),
        ("mac", vec![0; 32]),
        ("mac", mac_of_other),
        ("key", vec![7; 32]),
    ];
    changes.extend((0..32).step_by(5).map(|at| ("mac", flipped(&mac, at))));
    let step = (code.len() / 8).max(1);
    changes.extend(
        (0..code.len())
            .step_by(step)
            .map(|at| ("cwasm", flipped(&code, at))),
    );
    for (number, (kind, bytes)) in changes.into_iter().enumerate() {
        let cache = place.dir.path().join(format!("cache{number}"));
        copied(&kept, &cache);
        let control = runtime(cache.clone());
        place.good(&control.slot(place.target())).await;
        assert_eq!(
            control.counts().cache_hits,
            1,
            "{number}: the copy is no copy"
        );
        let file = match kind {
            "key" => cache.join("components/key"),
            kind => compiled(&cache).with_extension(kind),
        };
        // Another file under its name: the one that is mapped must not be cut.
        std::fs::remove_file(&file).unwrap();
        let replaced = dormouse_files::replace::replace(
            &file,
            &bytes,
            dormouse_files::replace::Access::Private,
        );
        replaced.unwrap();
        for (expected, what) in [((1, 0), "changed"), ((0, 1), "mended")] {
            let runtime = runtime(cache.clone());
            place.good(&runtime.slot(place.target())).await;
            let counts = runtime.counts();
            assert_eq!(
                (counts.compiled, counts.cache_hits),
                expected,
                "{number} {kind} {what}"
            );
        }
    }
    // Both halves of another component's entry, under this one's name.
    let cache = place.dir.path().join("swapped");
    copied(&kept, &cache);
    let own = compiled(&cache);
    for kind in ["cwasm", "mac"] {
        let file = own.with_extension(kind);
        std::fs::remove_file(&file).unwrap();
        std::fs::copy(compiled(&other).with_extension(kind), file).unwrap();
    }
    let swapped = runtime(cache);
    place.good(&swapped.slot(place.target())).await;
    assert_eq!(
        (swapped.counts().compiled, swapped.counts().cache_hits),
        (1, 0)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_start_is_told_and_not_repeated_at_once() {
    let place = place();
    let runtime = runtime(place.cache());
    let mut target = place.target();
    target.functions[0].params.pop();
    let slot = runtime.slot(target);
    let Cause::Load(why) = cause(
        slot.call(place.call("add", json!({ "a": 1, "b": 1 })))
            .await,
    ) else {
        panic!("the lie was believed")
    };
    assert!(why.contains("disagree"), "{why}");
    let again = cause(
        slot.call(place.call("add", json!({ "a": 1, "b": 1 })))
            .await,
    );
    assert!(matches!(again, Cause::Backoff { .. }), "{again}");
    slot.stop();
    let afresh = cause(
        slot.call(place.call("add", json!({ "a": 1, "b": 1 })))
            .await,
    );
    assert!(matches!(afresh, Cause::Load(_)), "{afresh}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_of_dormouses_own_directories_is_refused() {
    let place = place();
    std::fs::create_dir_all(place.cache().join("components")).unwrap();
    let runtime = runtime(place.cache());
    for path in [
        place.cache(),
        place.dir.path().to_path_buf(),
        place.cache().join("components"),
    ] {
        let mut target = place.target();
        target.grants.fs = vec![FsGrant {
            path,
            real: None,
            mode: FsMode::ReadOnly,
        }];
        let slot = runtime.slot(target);
        let refused = cause(
            slot.call(place.call("add", json!({ "a": 1, "b": 1 })))
                .await,
        );
        assert!(refused.to_string().contains("overlaps"), "{refused}");
    }
}

/// Counts the announcements of a start.
struct Heard(AtomicU64);
impl Listener for Heard {
    fn progress(&self, _: f64, _: Option<f64>, _: Option<String>) {}
    fn preparing(&self, _: String) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
    fn log(&self, _: &'static str, _: Option<String>, _: Value) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn null_for_an_optional_argument_means_that_it_is_not_there() {
    const OPTIONAL: &str = r#"(component
      (core module $m (func (export "f") (param i32 i32) (result i32) (local.get 0)))
      (core instance $i (instantiate $m))
      (func (export "f") (param "a" (option u32)) (result u32) (canon lift (core func $i "f"))))"#;
    let mut place = place();
    let bytes = wat::parse_str(OPTIONAL).unwrap();
    std::fs::write(&place.path, &bytes).unwrap();
    place.declaration = dormouse_wit::source::from_component(&bytes)
        .unwrap()
        .declaration;
    let runtime = runtime(place.cache());
    let slot = runtime.slot(place.target());
    for (arguments, expected) in [
        (json!({}), 0),
        (json!({ "a": null }), 0),
        (json!({ "a": 7.0 }), 1),
    ] {
        let mut call = place.call("f", arguments);
        call.listener = Arc::new(Heard(AtomicU64::new(0)));
        let result = slot.call(call).await.unwrap().into_value().unwrap();
        assert_eq!(result["structuredContent"]["result"], json!(expected));
    }
}

/// Returns a component with too many core instances for any pool.
fn crowded() -> String {
    let instances = "(core instance (instantiate $empty))".repeat(40);
    ODD.replacen(
        "(component",
        &format!("(component (core module $empty) {instances}"),
        1,
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_fit_the_pool_is_compiled_once_for_all_hosts() {
    let place = place();
    std::fs::write(&place.path, wat::parse_str(crowded()).unwrap()).unwrap();
    for (host, compiled) in [("first", 1), ("second", 0), ("third", 0)] {
        let runtime = runtime(place.cache());
        let slot = runtime.slot(place.target());
        place.good(&slot).await;
        // Nor is it compiled again after it was idle.
        slot.stop();
        place.good(&slot).await;
        let counts = runtime.counts();
        assert_eq!((counts.compiled, counts.engines), (compiled, 2), "{host}");
    }
}

/// Every kind of WebAssembly that `dormouse check` accepts can be compiled, and no other.
#[test]
fn what_check_lets_through_can_be_compiled() {
    for (module, runs) in [
        ("(func (result v128) (v128.const i64x2 0 0))", true),
        ("(func $f (return_call $f))", true),
        ("(memory 1) (memory 1)", true),
        ("(memory i64 1)", true),
        ("(type $f (func)) (func (param (ref null $f)))", true),
        ("(func (param externref))", false),
        ("(func (param (ref null struct)))", false),
        ("(memory 1 1 shared)", false),
        ("(tag) (func (throw 0))", false),
    ] {
        let component = format!(
            r#"(component
                (core module {module})
                (core module $m (func (export "f")))
                (core instance $i (instantiate $m))
                (func (export "f") (canon lift (core func $i "f"))))"#
        );
        let bytes = wat::parse_str(component).unwrap();
        let findings = dormouse_catalog::check(&bytes);
        let is_ok = !findings
            .iter()
            .any(|finding| finding.severity == dormouse_wit::Severity::Error);
        let place = place();
        std::fs::write(&place.path, &bytes).unwrap();
        let prepared = runtime(place.cache()).prepare(&place.path);
        assert_eq!(is_ok, runs, "{module}: {findings:?}");
        assert_eq!(prepared.is_ok(), runs, "{module}: {prepared:?}");
    }
}

/// Nothing has validated a component by then, and what is kept of a part takes more than the part does
/// in the file.
#[test]
fn a_component_of_too_many_parts_is_refused_before_it_is_compiled() {
    let place = place();
    let runtime = runtime(place.cache());
    let alias = "(alias outer $top $c (component))";
    let component = |aliases: usize| {
        let wat = format!("(component $top (component $c) {})", alias.repeat(aliases));
        wat::parse_str(wat).unwrap()
    };
    std::fs::write(&place.path, component(1000)).unwrap();
    let error = runtime.prepare(&place.path).unwrap_err();
    assert!(error.contains("more than 1000 components"), "{error}");
    assert!(error.contains("\nhint: "), "{error}");
    std::fs::write(&place.path, component(999)).unwrap();
    runtime.prepare(&place.path).unwrap();
    assert!(runtime.loader.nothing_is_loading());
}

/// Many servers may have the same file.
#[test]
fn one_content_is_looked_at_once_at_a_time() {
    let place = place();
    let runtime = runtime(place.cache());
    let bytes = std::fs::read(&place.path).unwrap();
    let gate = runtime.loader.gate(&super::cache::Cache::digest(&bytes));
    let turn = gate.lock();
    std::thread::scope(|scope| {
        let loads: Vec<_> = (0..3)
            .map(|_| scope.spawn(|| runtime.prepare(&place.path).map(drop)))
            .collect();
        std::thread::sleep(Duration::from_millis(500));
        assert!(loads.iter().all(|load| !load.is_finished()));
        let counts = runtime.counts();
        assert_eq!((counts.engines, counts.compiled), (0, 0));
        drop(turn);
        for load in loads {
            load.join().unwrap().unwrap();
        }
    });
    let counts = runtime.counts();
    assert_eq!((counts.compiled, counts.cache_hits), (1, 2));
}
