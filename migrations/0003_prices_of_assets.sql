CREATE TABLE `prices` (
	`asset` text PRIMARY KEY NOT NULL,
	`state` text NOT NULL,
	`usd_e12` text,
	`at_ms` integer NOT NULL,
	`asked_at_ms` integer NOT NULL,
	CONSTRAINT "prices_state" CHECK(state in ('known', 'unknown', 'unavailable') and (state = 'known') = (usd_e12 is not null))
);
--> statement-breakpoint
CREATE TABLE `tokens` (
	`chain` text NOT NULL,
	`address` text NOT NULL,
	`symbol` text,
	`name` text,
	`decimals` integer,
	`read_at_ms` integer NOT NULL,
	PRIMARY KEY(`chain`, `address`)
);
