//! What all peers of a listed schedule end with, computed once instead of once per peer.

use std::ops::Range;

use super::agreement::{Formulas, Term, common};
use super::neighbourhood::Neighbourhood;
use super::step::PeerStep;
use crate::protocol::Values;

/// The last value of every peer of a schedule whose peers all end with the same bits, as a function of the inputs.
///
/// Of the schedule's combinations only those remain that this value depends on, each once: for a spanning tree s − 1
/// additions, and no copies on the way down. Coordinates never meet, so ranges of them may be evaluated apart.
///
/// # Registers
/// Intermediate values live in registers of as many coordinates as are evaluated. Of the values that a combination adds, the one
/// that needs most registers is made first and kept; the others are made when their turn comes. Where no intermediate value
/// is used twice that takes at most 2 log₂ s + 2 registers.
///
/// Proof. Let R be the number that a value takes. One that adds inputs alone has R = 1. Any other has R ≤ max(R₁, R₂ + 2), R₁ ≥ R₂
/// the two largest of what it adds: while the others are made, one register holds the first and one the sum so far. So R grows by 2
/// only where two values of at least that R come together, R + 2 takes twice the inputs that R takes, and R ≤ 2 log₂ s + 2. ∎
#[derive(Clone, Debug, PartialEq)]
pub struct CommonEnd {
    operations: Vec<Operation>,
    end: Source,
    registers: usize,
    factor: f64,
}

/// Where a term comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    Input(u32),
    Register(u32),
}

/// One step of the evaluation.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Operation {
    /// The register becomes 0.
    Clear(u32),
    /// The register becomes factor · source.
    Begin(u32, f64, Source),
    /// The register becomes itself + factor · source.
    Add(u32, f64, Source),
    /// The register holds a combination: it is rounded to what travels unchanged.
    Round(u32),
}

impl CommonEnd {
    /// What all peers end with after these steps and this last factor; nothing where their formulas differ.
    pub(super) fn of(
        network: &dyn Neighbourhood,
        steps: &[Vec<PeerStep>],
        factor: f64,
    ) -> Option<Self> {
        let (formulas, end) = common(network, steps)?;
        let mut writer = Writer::new(&formulas, end);
        writer.write(end);
        Some(Self {
            end: writer.source(end),
            operations: writer.operations,
            registers: writer.registers as usize,
            factor,
        })
    }

    /// How many intermediate values are kept at a time.
    #[must_use]
    pub fn registers(&self) -> usize {
        self.registers
    }

    /// Evaluates coordinates: `out` becomes what every peer ends with, rounded to `values` after every combination, times the
    /// last factor. Inputs are taken as they come.
    ///
    /// # Shapes
    /// `input` gives the coordinates of a peer's input, as many as `out` has. `registers` is room that grows to
    /// [`Self::registers`] times as many; what it holds does not matter.
    ///
    /// # Panics
    /// If an input has another length.
    pub fn evaluate<'a>(
        &self,
        values: Values,
        input: impl Fn(usize) -> &'a [f64],
        registers: &mut Vec<f64>,
        out: &mut [f64],
    ) {
        let width = out.len();
        if registers.len() < self.registers * width {
            registers.resize(self.registers * width, 0.0);
        }
        let place = |register: u32| -> Range<usize> {
            let first = register as usize * width;
            first..first + width
        };
        for operation in &self.operations {
            let (into, factor, source, begins) = match *operation {
                Operation::Clear(into) => {
                    registers[place(into)].fill(0.0);
                    continue;
                }
                Operation::Round(into) => {
                    values.round(&mut registers[place(into)]);
                    continue;
                }
                Operation::Begin(into, factor, source) => (into, factor, source, true),
                Operation::Add(into, factor, source) => (into, factor, source, false),
            };
            let (into, x) = match source {
                Source::Input(peer) => (&mut registers[place(into)], input(peer as usize)),
                Source::Register(from) => {
                    let places = [place(into), place(from)];
                    let [into, from] = registers
                        .get_disjoint_mut(places)
                        .expect("a value is added to another");
                    (into, &*from)
                }
            };
            assert_eq!(x.len(), width, "inputs of one shape");
            // As `fold` does.
            if begins {
                for (y, x) in into.iter_mut().zip(x) {
                    *y = factor * x;
                }
            } else {
                for (y, x) in into.iter_mut().zip(x) {
                    *y += factor * x;
                }
            }
        }
        let end = match self.end {
            Source::Input(peer) => input(peer as usize),
            Source::Register(register) => &registers[place(register)],
        };
        for (out, x) in out.iter_mut().zip(end) {
            *out = x * self.factor;
        }
    }
}

/// Puts the folds that one formula depends on into an order that needs few registers.
struct Writer<'a> {
    formulas: &'a Formulas,
    /// Per formula: how often what is written depends on it and has not used it yet.
    uses: Vec<u32>,
    /// Per formula: registers that it takes, about.
    needs: Vec<u32>,
    /// Per formula: its register, once it is begun.
    places: Vec<Option<u32>>,
    free: Vec<u32>,
    registers: u32,
    operations: Vec<Operation>,
}

/// What is left to be written.
enum Task {
    /// A formula, unless it is there already.
    Make(u32),
    /// A term of a formula, by its place among the terms.
    Take(u32, usize),
}

impl<'a> Writer<'a> {
    fn new(formulas: &'a Formulas, end: u32) -> Self {
        let mut uses = vec![0; formulas.len()];
        uses[end as usize] = 1;
        for number in (0..=end).rev().filter(|&n| formulas.terms(n).is_some()) {
            if uses[number as usize] > 0 {
                for (_, x) in formulas.terms(number).into_iter().flatten() {
                    uses[*x as usize] += 1;
                }
            }
        }
        let mut writer = Self {
            formulas,
            uses,
            needs: vec![0; formulas.len()],
            places: vec![None; formulas.len()],
            free: Vec::new(),
            registers: 0,
            operations: Vec::new(),
        };
        for number in 0..=end {
            if let Some(terms) = formulas.terms(number) {
                writer.needs[number as usize] = writer.need(terms);
            }
        }
        writer
    }

    /// Registers that a fold of these terms takes, by those that the terms take.
    fn need(&self, terms: &[Term]) -> u32 {
        let (mut most, mut second) = (0, 0);
        for need in terms.iter().map(|(_, x)| self.needs[*x as usize]) {
            if need > most {
                (most, second) = (need, most);
            } else {
                second = second.max(need);
            }
        }
        match (most, second) {
            (0, _) => 1,
            (_, 0) => most.max(2),
            _ => most.max(second + 2),
        }
    }

    /// The term to be made first: the one that takes most registers, if any takes some.
    fn heaviest(&self, terms: &[Term]) -> Option<u32> {
        let need = |x: &u32| self.needs[*x as usize];
        let made = terms.iter().map(|(_, x)| *x).filter(|x| need(x) > 0);
        made.rev().max_by_key(need)
    }

    fn source(&self, number: u32) -> Source {
        match self.formulas.terms(number) {
            None => Source::Input(number),
            Some(_) => Source::Register(self.places[number as usize].expect("it is made")),
        }
    }

    fn write(&mut self, end: u32) {
        let mut tasks = vec![Task::Make(end)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Make(number) => {
                    let Some(terms) = self.formulas.terms(number) else {
                        continue;
                    };
                    if self.places[number as usize].is_some() {
                        continue;
                    }
                    if terms.is_empty() {
                        let into = self.open(number);
                        self.operations.push(Operation::Clear(into));
                    }
                    for (at, (_, x)) in terms.iter().enumerate().rev() {
                        tasks.push(Task::Take(number, at));
                        tasks.push(Task::Make(*x));
                    }
                    tasks.extend(self.heaviest(terms).map(Task::Make));
                }
                Task::Take(number, at) => self.take(number, at),
            }
        }
    }

    fn take(&mut self, number: u32, at: usize) {
        let terms = self.formulas.terms(number).expect("a fold");
        let (factor, x) = terms[at];
        let (factor, source) = (f64::from_bits(factor), self.source(x));
        let operation = if at == 0 {
            Operation::Begin(self.open(number), factor, source)
        } else {
            let into = self.places[number as usize].expect("it is begun");
            Operation::Add(into, factor, source)
        };
        self.operations.push(operation);
        if at + 1 == terms.len() {
            let whole = self.places[number as usize].expect("it is begun");
            self.operations.push(Operation::Round(whole));
        }
        self.uses[x as usize] -= 1;
        if let (Source::Register(register), 0) = (source, self.uses[x as usize]) {
            self.free.push(register);
        }
    }

    /// A register for a formula that is begun.
    fn open(&mut self, number: u32) -> u32 {
        let register = self.free.pop().unwrap_or_else(|| {
            self.registers += 1;
            self.registers - 1
        });
        self.places[number as usize] = Some(register);
        register
    }
}

#[cfg(test)]
mod tests;
