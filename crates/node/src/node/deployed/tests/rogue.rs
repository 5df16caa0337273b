//! A member played by a test: connected, and free to say what it likes.

use futures::AsyncWriteExt;
use futures::executor::block_on;
use libp2p::Stream;

use super::super::edge::Record;
use super::super::hub::Hub;
use super::super::streams::{self, Purpose};
use super::*;
use crate::engine::testing::session_of;
use crate::linalg::SparseRows;
use crate::node::equivocation::Evidence;
use crate::node::misbehaviour::Misbehaviour;
use crate::protocol::averaging::AveragingKind;
use crate::protocol::{Body, Message, SessionId, Values};
use crate::topology::Graph;
use crate::vocabulary::{ReleaseId, Round};

/// Two peers joined by an edge.
pub(super) fn pair() -> Session {
    let graph = Graph::from_edges(2, &[(0, 1)]).expect("an edge");
    let rows = |u: u32| {
        let mut rows = SparseRows::new(60);
        let items = (0..12).map(|i| (u + i * 5, 0.25));
        rows.push_row(items).expect("ascending");
        rows
    };
    session_of(
        &graph,
        vec![rows(0), rows(1)],
        2,
        (2, 5),
        AveragingKind::Linear,
        3,
    )
}

/// Member 1, whose host opens no edges by itself.
pub(super) struct Rogue {
    pub(super) host: Host,
    pub(super) session: SessionId,
}

impl Rogue {
    pub(super) fn hub(&self) -> &Arc<Hub> {
        self.host.hub()
    }

    fn honest(&self) -> &Arc<super::super::hub::Member> {
        let mut members = self.hub().members.values();
        members.next().expect("the honest member")
    }

    /// Opens an edge as an honest neighbour would.
    pub(super) async fn open(&self) -> Stream {
        let purpose = Purpose::Edge(self.session);
        let opened = streams::open(&self.hub().streams, self.honest().peer, purpose).await;
        opened.expect("the honest member answers").0
    }

    /// Opens streams that begin with this, until the library has not dropped one.
    pub(super) async fn insist(self, protocol: libp2p::StreamProtocol, bytes: Vec<u8>) {
        let mut control = self.hub().streams.clone();
        let mut streams = Vec::new();
        loop {
            let opened = control.open_stream(self.honest().peer, protocol.clone());
            if let Ok(mut stream) = opened.await
                && stream.write_all(&bytes).await.is_ok()
                && stream.flush().await.is_ok()
            {
                streams.push(stream);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Takes the honest member's edge, and says that it has received so much.
    pub(super) async fn answer(&self, last: u64) -> Stream {
        loop {
            let mut stream = self.honest().edge.take().await;
            let answered = streams::answer_edge(&mut stream, self.session, last).await;
            if answered.is_ok() {
                return stream;
            }
        }
    }

    /// Opens an edge, says this on it, and keeps it open.
    pub(super) async fn say(self, bytes: Vec<u8>) {
        let _inbound = self.answer(0).await;
        let mut stream = self.open().await;
        stream.write_all(&bytes).await.expect("is read");
        stream.flush().await.expect("is read");
        std::future::pending().await
    }
}

/// What member 1 says in this round of the agreement, or of the averaging, of the first release.
pub(super) fn message(session: &Session, round: u32, body: Body) -> Message {
    Message {
        session: session.plan().session(),
        release: ReleaseId(1),
        round: Round(round),
        body,
    }
}

/// A record of one frame, signed by this member.
pub(super) fn record(message: &Message, signer: usize, sequence: u64) -> Vec<u8> {
    let (mut bytes, mut piece) = (Vec::new(), Vec::new());
    let record = Record::of(message, Values::F64, 0, &identity(signer), &mut piece);
    block_on(record.write(sequence, &mut bytes, &mut piece)).expect("memory");
    bytes
}

/// What member 0 blames member 1 for when this is played.
pub(super) fn blame<Play>(
    patience: Duration,
    play_rogue: impl FnOnce(Rogue) -> Play,
) -> (Misbehaviour, Option<Evidence>)
where
    Play: Future<Output = ()> + Send + 'static,
{
    let session = pair();
    play(async {
        let members = members(2, Kind::Tcp);
        let mut honest = host(0, &members, LIMIT).await;
        let rogue = Rogue {
            host: host(1, &members, LIMIT).await,
            session: session.plan().session(),
        };
        let mut run = peer_run(&session, 0);
        run.setup.patience = Some(span(patience));
        honest.begin(run).expect("fits");
        let playing = tokio::spawn(play_rogue(rogue));
        let blamed = first(&mut honest, |event| match event {
            HostEvent::Fault {
                culprit,
                what,
                evidence,
            } => {
                assert_eq!(culprit, id(1));
                Some((what, evidence))
            }
            HostEvent::Failed(error) => panic!("{error}"),
            _ => None,
        })
        .await;
        playing.abort();
        blamed
    })
}
