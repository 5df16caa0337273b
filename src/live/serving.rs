//! The server of the page: on loopback, for whoever knows its path.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use futures::{Stream, stream};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::time::sleep;

/// How often a browser is sent something at most.
const EVERY: Duration = Duration::from_millis(50);

/// Browsers that may look at once.
const MOST_BROWSERS: usize = 16;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Everything that the page may load comes from this server.
const POLICY: &str = "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// Why there is no page to watch something on.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// The port is taken, or there is no loopback interface.
    #[error(
        "cannot listen on 127.0.0.1:{port}: {source}; choose another port with --live=PORT, or none and let the system choose"
    )]
    Listen {
        /// Which port; 0 is any.
        port: u16,
        /// What the system said.
        source: std::io::Error,
    },
    /// No threads, or no random bits.
    #[error("cannot start the server of the live page: {0}")]
    Start(String),
}

/// What a page shows: written by one thread, read by any number.
pub(super) trait Shown: Send + Sync + 'static {
    /// Counts changes; a browser that has seen this one is sent nothing.
    fn version(&self) -> u64;
    /// What changes seldom, as JSON.
    fn scene(&self) -> String;
    /// What is true now, as JSON.
    fn picture(&self) -> String;
}

/// What handlers share.
struct Served {
    shown: Arc<dyn Shown>,
    /// The hosts that requests may name.
    hosts: [String; 2],
    /// One per browser that looks.
    browsers: Arc<()>,
    /// Set when the server ends.
    ending: watch::Receiver<bool>,
}

/// A server of one page. It ends when this is dropped.
pub(super) struct Server {
    address: String,
    ending: watch::Sender<bool>,
    /// Last: its drop waits for nobody.
    runtime: Option<Runtime>,
}

impl Server {
    /// Listens on the loopback interface; port 0 is any that is free. Buttons are answered with `pressed` at hand.
    pub(super) fn start<P: Send + Sync + 'static, const N: usize>(
        port: u16,
        shown: Arc<dyn Shown>,
        pressed: &Arc<P>,
        buttons: [(&str, MethodRouter<Arc<P>>); N],
    ) -> Result<Self, LiveError> {
        let started = |error: &dyn std::fmt::Display| LiveError::Start(error.to_string());
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("live")
            .enable_all()
            .build()
            .map_err(|error| started(&error))?;
        let at = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listen = |source| LiveError::Listen { port, source };
        let listener = runtime.block_on(TcpListener::bind(at)).map_err(listen)?;
        let port = listener.local_addr().map_err(listen)?.port();
        let mut bits = [0; 16];
        getrandom::fill(&mut bits).map_err(|error| started(&error))?;
        let path: String = bits.iter().map(|byte| format!("{byte:02x}")).collect();
        let (ending, ended) = watch::channel(false);
        let served = Arc::new(Served {
            shown,
            hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
            browsers: Arc::default(),
            ending: ended,
        });
        let mut pages: Router = pages(&path).with_state(Arc::clone(&served));
        for (name, button) in buttons {
            let button = button.with_state(Arc::clone(pressed));
            pages = pages.route(&format!("/{path}/{name}"), button);
        }
        let router = pages.layer(middleware::from_fn_with_state(served, guard));
        runtime.spawn(async move {
            // Ends with the runtime; a connection that breaks is the browser's.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self {
            address: format!("http://127.0.0.1:{port}/{path}/"),
            ending,
            runtime: Some(runtime),
        })
    }

    /// What to open in a browser.
    pub(super) fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ending.send_replace(true);
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The parts of a page, below its path.
fn pages(path: &str) -> Router<Arc<Served>> {
    let text = |kind: &'static str, text: &'static str| {
        get(move || async move { ([(header::CONTENT_TYPE, kind)], text) })
    };
    let at = |name: &str| format!("/{path}/{name}");
    Router::new()
        .route(&at(""), get(|| async { Html(PAGE) }))
        .route(&at("page.css"), text("text/css; charset=utf-8", STYLE))
        .route(
            &at("page.js"),
            text("text/javascript; charset=utf-8", SCRIPT),
        )
        .route(&at("scene"), get(scene))
        .route(&at("events"), get(events))
}

/// Refuses requests that name another host, which pages of other sites can make a browser send here, and says what pages may load.
async fn guard(State(served): State<Arc<Served>>, request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST);
    let is_own = host.is_some_and(|host| served.hosts.iter().any(|own| host == own.as_str()));
    if !is_own {
        return StatusCode::FORBIDDEN.into_response();
    }
    let mut response = next.run(request).await;
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn scene(State(served): State<Arc<Served>>) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (kind, served.shown.scene()).into_response()
}

/// The picture, whenever it has changed and the browser has taken the one before.
async fn events(State(served): State<Arc<Served>>) -> Response {
    let looking = Arc::clone(&served.browsers);
    if Arc::strong_count(&looking) > MOST_BROWSERS + 1 {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    Sse::new(pictures(served, looking))
        .keep_alive(KeepAlive::default())
        .into_response()
}

fn pictures(
    served: Arc<Served>,
    looking: Arc<()>,
) -> impl Stream<Item = Result<Event, Infallible>> + Send {
    let ending = served.ending.clone();
    stream::unfold(
        (served, looking, ending, None),
        |(served, looking, mut ending, seen)| async move {
            if seen.is_some() {
                tokio::select! {
                    () = sleep(EVERY) => {}
                    _ = ending.wait_for(|ending| *ending) => return None,
                }
            }
            while seen == Some(served.shown.version()) {
                tokio::select! {
                    () = sleep(EVERY) => {}
                    _ = ending.wait_for(|ending| *ending) => return None,
                }
            }
            let version = served.shown.version();
            let event = Event::default().data(served.shown.picture());
            Some((Ok(event), (served, looking, ending, Some(version))))
        },
    )
}
