//! Python dictionaries as the tables of an experiment file.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use toml::{Table, Value};

/// The deepest table within tables.
const DEPTH: usize = 32;

/// The table that this dictionary says; keys with the value `None` are left out.
///
/// # Errors
/// `TypeError` for what no experiment file can hold, `ValueError` for numbers beyond 64 bits; both name the key.
pub(crate) fn table(dictionary: &Bound<'_, PyDict>) -> PyResult<Table> {
    of_dictionary(dictionary, "", 0)
}

fn of_dictionary(dictionary: &Bound<'_, PyDict>, path: &str, depth: usize) -> PyResult<Table> {
    if depth > DEPTH {
        return Err(PyValueError::new_err(format!(
            "{path}: tables within tables, deeper than {DEPTH}"
        )));
    }
    let mut table = Table::new();
    for (key, value) in dictionary.iter() {
        let Ok(key) = key.cast::<PyString>() else {
            return Err(PyTypeError::new_err(format!(
                "{}: keys are text, found {}",
                shown(path),
                key.get_type().name()?
            )));
        };
        let key = key.to_str()?.to_owned();
        let inner = match path {
            "" => key.clone(),
            path => format!("{path}.{key}"),
        };
        if !value.is_none() {
            table.insert(key, of_value(&value, &inner, depth)?);
        }
    }
    Ok(table)
}

fn of_value(value: &Bound<'_, PyAny>, path: &str, depth: usize) -> PyResult<Value> {
    if let Ok(dictionary) = value.cast::<PyDict>() {
        return Ok(Value::Table(of_dictionary(dictionary, path, depth + 1)?));
    }
    // Before numbers, which truth values are too.
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(Value::Boolean(truth.is_true()));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::String(text.to_str()?.to_owned()));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        return of_items(value, path, depth);
    }
    if value.is_instance_of::<PyInt>() {
        return value.extract().map(Value::Integer).map_err(|_| {
            PyValueError::new_err(format!("{path}: a whole number beyond 64 bits: {value}"))
        });
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Value::Float(value.extract()?));
    }
    if value.hasattr("__fspath__")? {
        let text = value.call_method0("__fspath__")?;
        return of_value(&text, path, depth + 1);
    }
    // Arrays and scalars of numpy.
    if value.hasattr("tolist")? {
        let plain = value.call_method0("tolist")?;
        if depth <= DEPTH && !plain.hasattr("tolist")? {
            return of_value(&plain, path, depth + 1);
        }
    }
    Err(PyTypeError::new_err(format!(
        "{}: expected text, a number, a truth value, a list or a dict, found {}",
        shown(path),
        value.get_type().name()?
    )))
}

fn of_items(items: &Bound<'_, PyAny>, path: &str, depth: usize) -> PyResult<Value> {
    if depth > DEPTH {
        return Err(PyValueError::new_err(format!(
            "{path}: lists within lists, deeper than {DEPTH}"
        )));
    }
    let mut all = Vec::new();
    for item in items.try_iter()? {
        all.push(of_value(&item?, path, depth + 1)?);
    }
    Ok(Value::Array(all))
}

fn shown(path: &str) -> &str {
    match path {
        "" => "the configuration",
        path => path,
    }
}

/// `key=value` as after `--set`, with the value as a file has it.
pub(crate) fn override_of(key: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(format!("{key}={}", of_value(value, key, 0)?))
}
