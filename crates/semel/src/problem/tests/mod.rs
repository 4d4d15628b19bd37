mod negotiation;
mod pages;
mod samples;
mod table;
mod texts;
