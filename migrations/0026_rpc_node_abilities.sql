ALTER TABLE `rpc_nodes` ADD `traces` integer;--> statement-breakpoint
ALTER TABLE `rpc_nodes` ADD `has_history` integer;