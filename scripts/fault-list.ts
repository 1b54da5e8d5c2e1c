/** Faults that a person could make, to be put in by hand: does a test of the day find each? */

/** A replacement in one file. */
export interface Fault {
  readonly name: string
  /** From the root of the repository. */
  readonly file: string
  /** Occurs exactly once in the file. */
  readonly before: string
  readonly after: string
}

/** At least one for each folder. */
export const faults: readonly Fault[] = [
  { name: 'one more at once than each may', file: 'cluster/flow/fair-semaphore.ts',
    before: 'busy < this.#limits.each', after: 'busy <= this.#limits.each' },
  { name: 'a member that is cut off judges others', file: 'cluster/membership/verdict.ts',
    before: "isSeen || witness === 'nobody asked' || wasAlone ? reachable : silent",
    after: "isSeen || witness === 'nobody asked' ? reachable : silent" },
  { name: 'a shard is claimed from a living owner, for lack of an await',
    file: 'cluster/shards/claim.ts', before: '!await ended(other)', after: '!ended(other)' },
  { name: 'a repeated command is done again', file: 'cluster/actors/recent-commands.ts',
    before: 'this.#underWay.get(id) ?? this.#answered.get(id)', after: 'this.#underWay.get(id)' },
  { name: 'calls that were sent still count as waiting', file: 'cluster/transport/follow-outbox.ts',
    before: '    this.#bytes -= bytes\n', after: '' },
  { name: 'a command that may be done is said not to be', file: 'cluster/routing/router.ts',
    before: 'throw unconfirmed ?? nobody()', after: 'throw nobody()' },
  { name: 'an old key is used before it is looked up, for lack of an await',
    file: 'src/access/key-cache.ts', before: 'if (waits) await this.#refresh(entry)',
    after: 'if (waits) void this.#refresh(entry)' },
  { name: 'tokens of an ended lease are lost', file: 'src/limits/limit-counter.ts',
    before: '    this.#leases.delete(id)\n    this.#leased -= lease.tokens\n',
    after: '    this.#leases.delete(id)\n' },
  { name: 'secrets follow a redirect to another port', file: 'src/egress/redirect.ts',
    before: 'url.origin === hop.url.origin', after: 'url.hostname === hop.url.hostname' },
  { name: 'a part of a list ends before it begins', file: 'src/json/list-slice.ts',
    before: 'Math.max(begin, boundOf(to ?? total, total))', after: 'boundOf(to ?? total, total)' },
  { name: 'the end of any run decides whose writes are older', file: 'src/checkpoint/history.ts',
    before: "if (this.#writer === 'perhaps') this.#writer = dropped",
    after: 'this.#writer = dropped' },
  { name: 'a task that runs again replaces its result', file: 'src/graph/state/pending-writes.ts',
    before: 'if (index >= 0) return !this.#writes.has(placeOf(taskId, index))',
    after: 'if (index >= 0) return true' },
  { name: 'runs stay for ever on a project that was replaced',
    file: 'src/graph/pool/worker-pool.ts', before: 'if (!link.quarantined && this.has(link))',
    after: 'if (link.quarantined && this.has(link))' },
  { name: 'a run whose owner died has attempts for ever', file: 'src/thread/decide/run-queue.ts',
    before: "run.started && run.status === 'pending' ?", after: 'run.started ?' },
  { name: 'a cron goes on after its end', file: 'src/crons/cron.ts',
    before: 'content.endTimeMs > 0 && nextMs > content.endTimeMs ? 0 : nextMs', after: 'nextMs' },
  { name: 'a sweep removes an item that was put anew', file: 'src/items/item-actor.ts',
    before: 'row === undefined || !isOver(row, beforeMs)', after: 'row === undefined' },
  { name: 'a shard that two members answer for hides one without any',
    file: 'src/search/merged-page.ts',
    before: 'covered.length === shards && new Set(covered).size === shards',
    after: 'covered.length === shards' },
  { name: 'a link that was revoked works when its object is shared again',
    file: 'src/platform/records/shares/catalog-shares.ts',
    before: 'body === undefined || body.token !== token', after: 'body === undefined' },
  { name: 'an alert fires in each pass', file: 'src/platform/evaluate/rules/rule-alert.ts',
    before: 'fired === undefined || fired.delivered', after: 'fired === undefined' },
  { name: 'a rule acts on what a rule made', file: 'src/platform/evaluate/rules/rule-pass.ts',
    before:
      "  if (marked) {\n    return { tokens: 0,\n      line: { ...line, outcome: 'skipped',\n" +
      "        message: 'A rule made this run, so no rule acts on it.' } }\n  }\n", after: '' },
  { name: 'a roll-back does not move the pointer', file: 'src/deployment/rollout/decide-rollout.ts',
    before: 'change: { ...end.change, ...moved }', after: 'change: { ...end.change }' },
  { name: 'a link may lead to the folder above', file: 'src/revision/tree-path.ts',
    before: "reached === '..' || ", after: '' },
  { name: 'a body of unknown length has no limit', file: 'src/frontdoor/http/received-body.ts',
    before: "if (chunks.length > bodyLimit) throw new HeddleError('too_large')", after: '' },
  { name: 'a socket goes on when its key was revoked',
    file: 'src/frontdoor/protocol-v2/thread-socket.ts',
    before: '    if (!this.#caller.stillValid()) return closeFor(this.#socket, credentialLost())\n',
    after: '' },
  { name: 'a page of runs repeats the last of the page before',
    file: 'src/store/embedded/search/run-search.ts', before: 'run_id < :runId',
    after: 'run_id <= :runId' },
  { name: 'a row of a former owner counts in the chain', file: 'src/store/cassandra/log/chain.ts',
    before: '  return `${epoch} ${seq}`', after: '  return `${epoch && seq}`' },
  { name: 'nobody wakes what is due after the next', file: 'src/server/due-wakes.ts',
    before: '      if (next !== undefined) this.note(next.atMs)\n', after: '' },
  { name: 'keys of all tenants are listed', file: 'src/cli/keys-command.ts',
    before: 'keyAdmin.list(typed.tenant)', after: 'keyAdmin.list()' },
  { name: 'only the first page of a day is billed', file: 'src/cli/billing-command.ts',
    before: 'if (page.length < pageRows) return', after: 'if (page.length <= pageRows) return' },
  { name: 'the last page of threads shows others', file: 'src/studio/threads/page-window.ts',
    before: 'offset: total - to', after: 'offset: total - from' },
]
