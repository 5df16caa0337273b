//! A table with a column of users, one of items, and perhaps one of ratings.
//!
//! ```text
//! file      = [ names ] { record }
//! names     = name separator name { separator name }     where no field of the first line is a number
//! record    = field separator field { separator field }  as many fields on every line
//! separator = tab, semicolon or comma: the first of these that the first line holds
//! ```
//!
//! Fields as in every comma-separated format here: blanks around them are dropped, quoted ones hold separators and
//! doubled quotes. A type behind a name, as RecBole writes it (`user_id:token`), is no part of the name. Columns are found by what
//! [`TableColumns`] says, or by the usual names, or are the first three where there are no names; other columns are left out. A column of peers is
//! read only where it is said. What was found is told in
//! [`Loaded::layout`](crate::data::Loaded::layout). Ids are any text, compared byte by byte.

use std::fmt;

use csv::StringRecord;
use serde::{Deserialize, Serialize};

use super::fields::{number, split_fields};
use super::{Description, Format, LineReader, Problem, Ratings, excerpt};

pub(super) const DESCRIPTION: Description = Description {
    name: "table",
    // As u.data of MovieLens, and RecBole's `.inter`.
    recognises: |text| text.split('\t').count() >= 3 && !Format::Eachmovie.recognises(text),
    reader: || Box::new(Reader::new(TableOptions::default())),
};

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged, expecting = "the name of a column, or its number from 1")]
pub enum TableColumn {
    /// The one with this number, from 1.
    Number(u32),
    /// The one with this name in the first line.
    Named(String),
}

impl fmt::Display for TableColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Named(name) => write!(f, "\"{name}\""),
        }
    }
}

/// Which columns of a table hold users, items, ratings and peers; those that are not said are found by their usual names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableColumns {
    /// Users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<TableColumn>,
    /// Items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<TableColumn>,
    /// Ratings; where there are none, every line is an interaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rating: Option<TableColumn>,
    /// Peers: the node of the graph at which the user of the line is. Without it users are assigned by `peers.partition`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<TableColumn>,
}

/// How a table is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableOptions {
    /// Which columns are read.
    pub columns: TableColumns,
    /// Whether the first line names the columns; where this is not said, it does if none of its fields is a number.
    pub header: Option<bool>,
}

/// What columns are usually called, without case, blanks, `_` and `-`.
const USERS: [&str; 6] = [
    "user",
    "userid",
    "uid",
    "reviewerid",
    "customerid",
    "person",
];
pub(in crate::data) const ITEMS: [&str; 12] = [
    "item",
    "itemid",
    "iid",
    "movie",
    "movieid",
    "bookid",
    "artistid",
    "productid",
    "parentasin",
    "asin",
    "businessid",
    "isbn",
];
const RATINGS: [&str; 6] = [
    "rating",
    "ratings",
    "score",
    "stars",
    "overall",
    "bookrating",
];

/// Where the parts of a record are.
#[derive(Clone, Copy, Debug)]
struct Places {
    user: usize,
    item: usize,
    rating: Option<usize>,
    peer: Option<usize>,
    width: usize,
}

pub(super) struct Reader {
    wanted: TableColumns,
    header: Option<bool>,
    separator: char,
    names: Option<StringRecord>,
    places: Option<Places>,
    record: StringRecord,
}

impl Reader {
    /// A reader of such a table.
    pub(super) fn new(options: TableOptions) -> Self {
        Self {
            wanted: options.columns,
            header: options.header,
            separator: ',',
            names: None,
            places: None,
            record: StringRecord::new(),
        }
    }

    /// Looks at the first line; whether it is a record and not the names of columns.
    fn first(&mut self, text: &str) -> Result<bool, Problem> {
        let found = ['\t', ';', ',']
            .into_iter()
            .find(|sign| text.contains(*sign));
        self.separator = found.ok_or(Problem::TableSeparator {
            found: excerpt(text),
        })?;
        split_fields(text, self.separator, &mut self.record)?;
        if self.is_record()? {
            self.places = Some(self.by_number()?);
            return Ok(true);
        }
        let names: StringRecord = self.record.iter().map(without_type).collect();
        if let Some(place) = names.iter().position(str::is_empty) {
            return Err(Problem::UnnamedColumn { number: place + 1 });
        }
        self.places = Some(self.by_name(&names)?);
        self.names = Some(names);
        Ok(false)
    }

    /// Whether the first line is a record. Where its rating would be no number, it names columns; without ratings words may be either.
    fn is_record(&self) -> Result<bool, Problem> {
        if let Some(header) = self.header {
            return Ok(!header);
        }
        if self.record.iter().any(|field| number(field, "").is_ok()) {
            return Ok(true);
        }
        let wanted = &self.wanted;
        let is_number =
            |column: &Option<TableColumn>| matches!(column, Some(TableColumn::Number(_)));
        let by_number = is_number(&wanted.user) || is_number(&wanted.item);
        match by_number && wanted.rating.is_none() {
            true => Err(Problem::HeaderOrRecord {
                found: excerpt(&self.record.iter().collect::<Vec<_>>().join(", ")),
            }),
            false => Ok(false),
        }
    }

    fn by_number(&self) -> Result<Places, Problem> {
        let width = self.record.len();
        let place = |column: &Option<TableColumn>, usual: usize, what| match column {
            None => Ok(usual),
            Some(TableColumn::Number(number)) => Ok((*number as usize).wrapping_sub(1)),
            Some(TableColumn::Named(name)) => Err(Problem::NoNames {
                what,
                name: excerpt(name),
            }),
        };
        let rating = match &self.wanted.rating {
            // Where the others are said, what is not said is not there.
            None if self.wanted.user.is_some() || width < 3 => None,
            rating => Some(place(rating, 2, "rating")?),
        };
        let user = place(&self.wanted.user, 0, "user")?;
        let item = place(&self.wanted.item, 1, "item")?;
        let peer = self
            .wanted
            .peer
            .as_ref()
            .map(|_| place(&self.wanted.peer, 0, "peer"));
        places((user, item, rating, peer.transpose()?), width)
    }

    fn by_name(&self, names: &StringRecord) -> Result<Places, Problem> {
        let find = |column: &Option<TableColumn>, usual: &[&str], what| {
            let by = |is: &dyn Fn(&str) -> bool| {
                let mut found = (0..).zip(names).filter(|(_, name)| is(name));
                match (found.next(), found.next()) {
                    (Some((place, _)), None) => Ok(Some(place)),
                    (None, _) => Ok(None),
                    (Some(_), Some(_)) => Err(Problem::ColumnTwice { what }),
                }
            };
            match column {
                Some(TableColumn::Number(number)) => Ok(Some((*number as usize).wrapping_sub(1))),
                Some(TableColumn::Named(name)) => {
                    let found = by(&|found| found == name)?;
                    found.map(Some).ok_or_else(|| no_column(names, what))
                }
                None => by(&|found| usual.contains(&plain(found).as_str())),
            }
        };
        let user = find(&self.wanted.user, &USERS, "user")?;
        let item = find(&self.wanted.item, &ITEMS, "item")?;
        let rating = find(&self.wanted.rating, &RATINGS, "rating")?;
        let peer = find(&self.wanted.peer, &[], "peer")?;
        let user = user.ok_or_else(|| no_column(names, "user"))?;
        let item = item.ok_or_else(|| no_column(names, "item"))?;
        places((user, item, rating, peer), names.len())
    }
}

impl LineReader for Reader {
    fn line(&mut self, text: &str, ratings: &mut Ratings) -> Result<(), Problem> {
        if self.places.is_some() {
            split_fields(text, self.separator, &mut self.record)?;
        } else if !self.first(text)? {
            return Ok(());
        }
        let Some(places) = self.places else {
            return Ok(());
        };
        let found = self.record.len();
        if found != places.width {
            let expected = places.width;
            return Err(Problem::TableWidth { found, expected });
        }
        let field = |place: usize| self.record.get(place).unwrap_or_default();
        if let Some(names) = &self.names {
            for place in [places.user, places.item] {
                if names.get(place) == Some(field(place)) {
                    let id = excerpt(field(place));
                    return Err(Problem::HeaderName { id });
                }
            }
        }
        let rating = match places.rating {
            Some(place) => Some(number(field(place), "rating")?),
            None => None,
        };
        let (user, item) = (field(places.user), field(places.item));
        let (user, item) = (ratings.user(user)?, ratings.item(item)?);
        if let Some(place) = places.peer {
            ratings.place(user, field(place))?;
        }
        ratings.add(user, item, rating)
    }

    fn layout(&self) -> Option<String> {
        let places = self.places?;
        let name = |place: usize| match &self.names {
            Some(names) => names.get(place).unwrap_or_default().to_owned(),
            None => format!("column {}", place + 1),
        };
        let separator = match self.separator {
            '\t' => "tabs",
            ';' => "semicolons",
            _ => "commas",
        };
        let rating = places
            .rating
            .map(|place| format!(", ratings from {}", name(place)));
        let peer = places
            .peer
            .map(|place| format!(", peers from {}", name(place)));
        Some(format!(
            "a table separated by {separator}, {}: users from {}, items from {}{}{}",
            if self.names.is_some() {
                "its columns named on the first line"
            } else {
                "without names of columns"
            },
            name(places.user),
            name(places.item),
            rating.unwrap_or_else(|| ", no ratings".to_owned()),
            peer.unwrap_or_default(),
        ))
    }
}

/// Places that are in the table and differ.
fn places(
    (user, item, rating, peer): (usize, usize, Option<usize>, Option<usize>),
    width: usize,
) -> Result<Places, Problem> {
    // A user may be a peer.
    let all = [
        Some(user),
        Some(item),
        rating,
        peer.filter(|place| *place != user),
    ];
    for (at, place) in (0..).zip(all) {
        let Some(place) = place else { continue };
        if place >= width {
            let number = place.wrapping_add(1);
            return Err(Problem::ColumnBeyond { number, width });
        }
        if all[..at].contains(&Some(place)) {
            return Err(Problem::ColumnTwice {
                what: ["user", "item", "rating", "peer"][at],
            });
        }
    }
    Ok(Places {
        user,
        item,
        rating,
        peer,
        width,
    })
}

fn no_column(names: &StringRecord, what: &'static str) -> Problem {
    let names: Vec<&str> = names.iter().collect();
    Problem::NoColumn {
        what,
        found: excerpt(&names.join(", ")),
    }
}

/// A name without the type that RecBole writes behind it.
pub(in crate::data) fn without_type(name: &str) -> &str {
    let types = [":token", ":float", ":token_seq", ":float_seq"];
    let stripped = types.iter().find_map(|kind| name.strip_suffix(kind));
    stripped.unwrap_or(name)
}

/// A name as [`USERS`] and the others have it.
pub(in crate::data) fn plain(name: &str) -> String {
    let letters = name.chars().filter(|c| !matches!(c, ' ' | '_' | '-'));
    letters.collect::<String>().to_lowercase()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::data::formats::Format;
    use crate::data::formats::tests::Sample;
    use crate::data::{Limits, Loaded, read_table};

    /// A small good file.
    pub(in crate::data::formats) const SAMPLE: Sample = (
        Format::Table,
        "user_id:token\titem_id:token\trating:float\ttimestamp:float\n9\t31\t2.5\t8\n9\t7\t3\t9\n2\t31\t0.5\t1\n",
        &["9", "2"],
        &["31", "7"],
        &[&[0, 1], &[0]],
    );

    fn read(text: &str, options: &TableOptions) -> Result<Loaded, String> {
        let read = read_table(text.as_bytes(), "t", options, None, Limits::default());
        read.map_err(|error| error.to_string())
    }

    fn columns(text: &str) -> TableOptions {
        TableOptions {
            columns: toml::from_str(text).expect("columns"),
            header: None,
        }
    }

    fn layout(text: &str, options: &TableOptions) -> String {
        read(text, options).expect(text).layout.expect("told")
    }

    #[test]
    fn separators_names_and_columns_are_found_and_told() {
        let usual = TableOptions::default();
        for (text, told) in [
            (
                "196\t242\t3\t881250949\n",
                "tabs, without names of columns: users from column 1, items from column 2, ratings from column 3",
            ),
            (
                "userId,movieId,rating,timestamp\n1,2,3.5,9\n",
                "commas, its columns named on the first line: users from userId, items from movieId, ratings from rating",
            ),
            (
                "\"User-ID\";\"ISBN\";\"Book-Rating\"\n\"1\";\"034545104X\";\"0\"\n",
                "semicolons, its columns named on the first line: users from User-ID, items from ISBN, ratings from Book-Rating",
            ),
            (
                "time,user id,artist_id\n5,a,b\n",
                "commas, its columns named on the first line: users from user id, items from artist_id, no ratings",
            ),
            (
                "1,7\n2,7\n",
                "commas, without names of columns: users from column 1, items from column 2, no ratings",
            ),
        ] {
            assert_eq!(layout(text, &usual), format!("a table separated by {told}"));
        }
        let said = columns("user = 3\nitem = 1\nrating = 2");
        let told = layout("5,2.5,anna\n6,1,anna\n", &said);
        assert!(told.ends_with("users from column 3, items from column 1, ratings from column 2"));
        let said = columns("user = \"who\"\nitem = \"what\"");
        let told = layout("what,when,who\nx,1,anna\n", &said);
        assert!(
            told.ends_with("users from who, items from what, no ratings"),
            "{told}"
        );
    }

    #[test]
    fn what_may_be_meant_in_two_ways_is_refused_with_a_remedy() {
        let usual = TableOptions::default();
        for (text, words) in [
            (
                ",user,item,rating\n0,1,2,3\n",
                "line 1: column 1 has no name, as pandas writes an index",
            ),
            (
                "who,what,how\n1,2,3\n",
                "no column is known to hold the users; the columns are who, what, how",
            ),
            (
                "user,item,rating\n1,2\n",
                "line 2: found 2 fields, and the first line has 3",
            ),
            (
                "user,userId,item\n1,2,3\n",
                "the user column is not told apart",
            ),
            (
                "user item rating\n1 2 3\n",
                "without tab, semicolon or comma",
            ),
            ("user,item,rating\n1,2,x\n", "line 2: found \"x\" as rating"),
            (
                "user,item,rating\n1,2,3\nuser,item,4\n",
                "line 3: \"user\" stands in the first line too",
            ),
        ] {
            let found = read(text, &usual).expect_err(text);
            assert!(found.contains(words), "{found}");
        }
        let by_number = columns("user = 1\nitem = 2");
        let found = read("anna,emma\nbo,ulm\n", &by_number).expect_err("either");
        assert!(
            found.contains("set `data.header = true` or `false`"),
            "{found}"
        );
        for (header, users) in [(true, 1), (false, 2)] {
            let header = Some(header);
            let options = TableOptions {
                header,
                ..by_number.clone()
            };
            let read = read("anna,emma\nbo,ulm\n", &options).expect("said");
            assert_eq!(read.interactions.users(), users);
        }
        for (said, words) in [
            (
                "user = 1\nitem = 9",
                "there is no column 9: the table has columns 1 to 3",
            ),
            ("user = 0\nitem = 1", "there is no column"),
            ("user = 1\nitem = 1", "the item column is not told apart"),
            ("user = \"x\"", "no column is called \"x\""),
        ] {
            let found = read("1,2,3\n", &columns(said)).expect_err(said);
            assert!(found.contains(words), "{found}");
        }
    }
}
