/** `npm run verify`: the workload against a server with faults, and a check of its history. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { checkHistory, ruleNames } from './checker/check.ts'
import { indexHistory } from './checker/history-index.ts'
import type { Violation } from './checker/violation.ts'
import { HistoryWriter, readHistory } from './history/history.ts'
import type { Entry } from './history/history.ts'
import { checkLogs, hasGo } from './linearizability/check.ts'
import { startReceiver } from './receiver.ts'
import { verifyInProcess } from './in-process.ts'
import { countPairs, PairTable, reportPairs } from './pairs.ts'
import type { PairCounts } from './pairs.ts'
import { runRound } from './round.ts'
import { startAegra } from './targets/aegra.ts'
import { startHeddle, startHeddleClock } from './targets/heddle.ts'
import { startHeddleCluster } from './targets/heddle-cluster.ts'
import { startLanggraphCli } from './targets/langgraph-cli.ts'
import { startRestate } from './targets/restate/restate.ts'
import type { StartTarget } from './targets/target.ts'

const usage = `Usage: npm run verify -- [options]

Runs a random workload of the public API against a server, injects faults, and checks the
history of all calls. Exits with 1 if a rule is broken.

  --target <name>      heddle (a server with a data directory; the default), heddle-clock (the
                       same with a clock that jumps), heddle-cluster (three members on
                       three nodes of Cassandra), langgraph-cli (the development server of
                       @langchain/langgraph-cli, without faults), aegra (aegra-api, with
                       PostgreSQL) or restate (durable steps only).
                       With in-process, clusters are simulated: no server, no network, no clock.
  --operations <n>     With in-process: number of operations instead of a duration.
                       Default: 10 000.
  --minutes <number>   Duration. Default: 5.
  --before <version>   Commit, or folder of a checkout, of the version before. Servers of
                       Heddle then also change to it and back, as a fault.
  --seed <number>      Seed of the workload. Default: from the time.
  --clients <number>   Clients at once. Default: 8.
  --history <folder>   Folder of the histories. Default: verify-history.
  --continue           Continues after a broken rule, and counts how often each is broken.
  --check <file>       Checks a history and starts no server.
  --help               Prints this text.`

const targets: Readonly<Record<string, StartTarget>> = {
  heddle: startHeddle,
  'heddle-clock': startHeddleClock,
  'heddle-cluster': startHeddleCluster,
  'langgraph-cli': startLanggraphCli,
  aegra: startAegra,
  restate: startRestate,
}
const [shownViolations, shownPairs] = [10, 20]
const withGo = hasGo()

const { values: options } = parseArgs({
  options: {
    target: { type: 'string', default: 'heddle' },
    minutes: { type: 'string', default: '5' },
    operations: { type: 'string', default: '10000' },
    before: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    clients: { type: 'string', default: '8' },
    history: { type: 'string', default: 'verify-history' },
    continue: { type: 'boolean', default: false },
    check: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

function report(violations: readonly Violation[]): void {
  for (const { rule, message, calls } of violations.slice(0, shownViolations)) {
    console.log(`Broken: ${rule}. ${message}`)
    for (const call of calls) console.log(`  ${JSON.stringify(call).slice(0, 600)}`)
  }
  const more = violations.length - shownViolations
  if (more > 0) console.log(`… and ${more} more.`)
}

/** Checks all rules, and with Go that logs are linearizable. */
async function check(entries: readonly Entry[]): Promise<readonly Violation[]> {
  const logs = withGo ? await checkLogs(indexHistory(entries)) : []
  return [...checkHistory(entries), ...logs]
}

/** Writes the table of pairs, and prints the pairs of operations on threads that were not seen. */
async function writePairs(seed: number, counts: PairCounts): Promise<void> {
  const rows = [...counts].toSorted(([, one], [, other]) => one - other)
    .map(([pair, count]) => `${count}\t${pair}\n`)
  await writeFile(join(options.history, `${seed}-pairs.tsv`), rows.join(''))
  const { seen, unseen } = reportPairs(counts)
  const shown = unseen.slice(0, shownPairs).join(', ')
  console.log(`Pairs of operations on one thread: ${seen} seen, ${unseen.length} not` +
    (shown && `: ${shown}${unseen.length > shownPairs ? ' …' : ''}`))
}

/** Runs rounds until the time is up or a rule is broken. Resolves with the exit code. */
async function verify(seed: number, start: StartTarget): Promise<number> {
  if (!withGo) console.log('Without Go, logs are not checked for linearizability.')
  await mkdir(options.history, { recursive: true })
  const seen = new Map<string, number>()
  const broken = new Map<string, number>()
  const pairs = new PairTable()
  let calls = 0
  let history: HistoryWriter | undefined
  const receiver = await startReceiver((received) =>
    history?.add({ ...received, atMs: history.nowMs() })
  )
  const target = await start({ receiverUrl: receiver.url, before: options.before })
  const endMs = performance.now() + Number(options.minutes) * 60_000
  try {
    for (let round = 0; performance.now() < endMs; round++) {
      const name = `${seed}-${round}`
      const file = join(options.history, `${name}.jsonl`)
      history = new HistoryWriter(file)
      await runRound({ target, receiverUrl: receiver.url, name, seed: seed + round,
        clients: Number(options.clients), history, pairs })
      await history.close()
      const violations = await check(history.entries)
      calls += history.entries.filter(({ type }) => type === 'call').length
      for (const [pair, count] of countPairs(history.entries)) {
        seen.set(pair, (seen.get(pair) ?? 0) + count)
      }
      console.log(`Round ${round}: ${calls} calls, ${seen.size} pairs, ${violations.length} broken`)
      report(violations)
      if (violations.length === 0) continue
      console.log(`History: ${file}`)
      for (const { rule } of violations) broken.set(rule, (broken.get(rule) ?? 0) + 1)
      if (!options.continue) return 1
    }
    if (broken.size > 0) {
      console.log(`Seed ${seed}: ${calls} calls, ${seen.size} pairs of operations. Broken:`)
      for (const [rule, count] of broken) console.log(`  ${count} × ${rule}`)
      return 1
    }
    console.log(`Seed ${seed}: ${calls} calls, ${seen.size} pairs of operations, ` +
      `${ruleNames.length} rules, none broken.`)
    return 0
  } finally {
    await writePairs(seed, seen)
    await target.close()
    await receiver.close()
  }
}

if (options.help) console.log(usage)
else if (options.check !== undefined) {
  const violations = await check(await readHistory(options.check))
  report(violations)
  console.log(`${violations.length} violations of ${ruleNames.length} rules.`)
  process.exitCode = violations.length > 0 ? 1 : 0
} else if (options.target === 'in-process') {
  process.exitCode = await verifyInProcess({ seed: Number(options.seed),
    operations: Number(options.operations), folder: options.history, continues: options.continue,
    report })
} else {
  const start = targets[options.target]
  if (start === undefined) {
    console.error(`--target is ${[...Object.keys(targets), 'in-process'].join(' or ')}.`)
    process.exitCode = 2
  } else process.exitCode = await verify(Number(options.seed), start)
}
