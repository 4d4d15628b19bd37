mod negotiation;
mod samples;
mod table;
mod texts;
