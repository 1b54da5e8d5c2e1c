/** All observations of one thread, and the faults that a single history cannot explain. */

/**
 * accepted     its run is durable
 * refused      there is no run: another one was unfinished
 * unavailable  there is no run: no owner could be reached
 * unknown      the connection broke first
 */
export type Answer = 'accepted' | 'refused' | 'unavailable' | 'unknown'

/** One attempt to start a run, and what its client saw. */
export interface Attempt {
  /** Unique: every line that its run writes begins with it. */
  readonly word: string
  readonly strategy: 'enqueue' | 'reject' | 'interrupt' | 'rollback'
  /** Number of the client's act; each act has ended before the next begins. */
  readonly act: number
  answer: Answer
  /** Missing until it is known. */
  runId?: string
  /** Lines in the `updates` events of its stream, in order. */
  readonly seen: { readonly line: string; readonly atMs: number }[]
  /** Whether its client read the stream to a clean end, or waited for the result. */
  followed: boolean
}

/** A run as the server lists it in the end. */
export interface FoundRun {
  readonly runId: string
  readonly word: string
  readonly status: string
}

/** A line of the file in which the graph says what it executes. */
export interface Execution {
  readonly threadId: string
  readonly word: string
  readonly line: string
  readonly pid: number
  readonly atMs: number
}

export interface ThreadHistory {
  readonly threadId: string
  /** In the order of their answers. */
  readonly attempts: readonly Attempt[]
  /** At the end, when all have ended. */
  readonly runs: readonly FoundRun[]
  /** The thread's state at the end. */
  readonly lines: readonly string[]
  /** In the order of the file; without those of members that stood still or were cut off. */
  readonly executions: readonly Execution[]
  /** How many lines a complete run writes. */
  readonly steps: number
}

/** One sentence per fault; none if the history is valid. */
export function faultsOf(history: ThreadHistory): string[] {
  return [
    ...faultsOfRuns(history),
    ...faultsOfLines(history),
    ...faultsOfStreams(history),
    ...faultsOfExecutions(history),
  ].map((fault) => `thread ${history.threadId}: ${fault}`)
}

const runsOf = ({ runs }: ThreadHistory, { word }: Attempt) =>
  runs.filter((run) => run.word === word)

/** Whether a later run may have rolled back the attempt's unfinished run. */
function mayBeRolledBack({ attempts }: ThreadHistory, attempt: Attempt): boolean {
  return attempts.slice(attempts.indexOf(attempt) + 1).some(({ strategy, answer, act }) =>
    act === attempt.act && strategy === 'rollback' &&
    (answer === 'accepted' || answer === 'unknown')
  )
}

/** Every acknowledged run is there once and has ended; there is no other run. */
function faultsOfRuns(history: ThreadHistory): string[] {
  const known = new Set(history.attempts.map(({ word }) => word))
  return [
    ...history.runs.flatMap(({ word, status, runId }) => [
      ...known.has(word) ? [] : [`run ${runId} (${word}) was asked for by nobody`],
      ...status === 'success' || status === 'interrupted'
        ? []
        : [`run ${runId} (${word}) is ${status}`],
    ]),
    ...history.attempts.flatMap((attempt) => {
      const { word, answer, runId } = attempt
      const found = runsOf(history, attempt)
      if (found.length > 1) return [`${found.length} runs of one request (${word})`]
      if (answer === 'refused' || answer === 'unavailable') {
        return found.length === 0 ? [] : [`${word} has a run, and its request was ${answer}`]
      }
      if (answer === 'unknown') return []
      if (found.length === 0) {
        return mayBeRolledBack(history, attempt) ? [] : [`acknowledged run of ${word} is lost`]
      }
      return found[0]!.runId === runId
        ? []
        : [`${word} is run ${found[0]!.runId}, and its client was told ${runId}`]
    }),
  ]
}

/** The words of lines in order, each repetition in a row once. */
const blocksOf = (lines: readonly { readonly word: string }[]) =>
  lines.map(({ word }) => word).filter((word, at, all) => word !== all[at - 1])

const twice = (
  words: readonly string[],
) => [...new Set(words.filter((word, at) => words.indexOf(word) !== at))]

const upTo = (word: string, count: number) =>
  Array.from({ length: count }, (_, at) => `${word} ${at + 1}`)

/** The thread holds one run after the other, each from its first line. */
function faultsOfLines(history: ThreadHistory): string[] {
  const { attempts, lines, steps } = history
  const blocks = blocksOf(lines.map((line) => ({ word: line.split(' ')[0]! })))
  const byWord = new Map(attempts.map((attempt) => [attempt.word, attempt]))
  const accepted = attempts.filter(({ answer }) => answer === 'accepted').map(({ word }) => word)
  const inOrder = blocks.filter((word) => byWord.get(word)?.answer === 'accepted')
  return [
    ...twice(blocks).map((word) => `run of ${word} is mixed with another one`),
    ...blocks.filter((word) => byWord.get(word) === undefined)
      .map((word) => `lines of ${word}, which nobody asked for`),
    ...String(inOrder) === String(accepted.filter((word) => blocks.includes(word)))
      ? []
      : [`runs are in the order ${inOrder.join()}, and were acknowledged as ${accepted.join()}`],
    ...attempts.flatMap((attempt) => {
      const own = lines.filter((line) => line.startsWith(`${attempt.word} `))
      const [run] = runsOf(history, attempt)
      if (String(own) !== String(upTo(attempt.word, own.length))) {
        return [`lines of ${attempt.word} are ${own.join()}`]
      }
      if (run === undefined && own.length > 0) return [`${attempt.word} has lines and no run`]
      if (own.length > steps) return [`${attempt.word} has ${own.length} lines of ${steps}`]
      if (run?.status === 'success' && own.length < steps) {
        return [`${attempt.word} is done with ${own.length} lines of ${steps}`]
      }
      return []
    }),
  ]
}

/** A stream has each line once and in order, and none that the thread does not hold. */
function faultsOfStreams(history: ThreadHistory): string[] {
  return history.attempts.flatMap((attempt) => {
    const { word, seen, followed } = attempt
    const lines = seen.map(({ line }) => line)
    const [run] = runsOf(history, attempt)
    const missing = lines.filter((line) => !history.lines.includes(line))
    return [
      ...String(lines) === String(upTo(word, lines.length))
        ? []
        : [`the stream of ${word} told ${lines.join()}`],
      ...run !== undefined && missing.length > 0
        ? [`the stream of ${word} told ${missing.join()}, which the thread has not`]
        : [],
      ...run?.status === 'success' && followed && seen.length > 0 && seen.length < history.steps
        ? [`the stream of ${word} ended after ${lines.length} of ${history.steps}`]
        : [],
    ]
  })
}

/** Consecutive executions of one process. */
interface OwnedSpan {
  readonly pid: number
  readonly executions: Execution[]
}

/**
 * Without the last executions of a process that the next one executes again: a run may begin before
 * it is in the log, and if its process dies then, it never began. That excuses dead processes only.
 */
function running(executions: readonly Execution[]): Execution[] {
  const ownedSpans: OwnedSpan[] = []
  for (const execution of executions) {
    if (ownedSpans.at(-1)?.pid === execution.pid) ownedSpans.at(-1)!.executions.push(execution)
    else ownedSpans.push({ pid: execution.pid, executions: [execution] })
  }
  return ownedSpans.flatMap(({ pid, executions: own }, at) => {
    const [next, ...later] = ownedSpans.slice(at + 1)
    if (later.some((ownedSpan) => ownedSpan.pid === pid)) return own
    const again = own.findIndex(({ word }) =>
      next?.executions.some((execution) => execution.word === word)
    )
    return again < 0 ? own : own.slice(0, again)
  })
}

/** Whether a later request ended the run before it was done. */
function wasCut(history: ThreadHistory, attempt: Attempt): boolean {
  const [run] = runsOf(history, attempt)
  return run === undefined ? mayBeRolledBack(history, attempt) : run.status === 'interrupted'
}

/**
 * The last execution of an interrupted run, if it overlaps the next run: its worker learns of the
 * interruption shortly after the next run began in the same process. What it does until then is
 * refused, so it is in no thread and in no stream; and it is at most one line.
 */
function straggler({ lines }: ThreadHistory, { word, seen }: Attempt,
  executions: readonly Execution[]): Execution | undefined {
  const at = executions.findLastIndex((execution) => execution.word === word)
  const last = executions[at]
  if (last === undefined) return undefined
  const before = executions.slice(0, at)
  const since = before.findLastIndex((execution) => execution.word === word)
  const isBeside = before.some((other, index) =>
    index > since && other.pid === last.pid &&
    before.findIndex((execution) => execution.word === other.word) === index
  )
  const isSeen = lines.includes(last.line) || seen.some(({ line }) => line === last.line)
  return isBeside && !isSeen ? last : undefined
}

/** Without the one line that each interrupted run may still have executed. */
function withoutStragglers(history: ThreadHistory, executions: readonly Execution[]): Execution[] {
  const left = new Set(history.attempts.filter((attempt) => wasCut(history, attempt))
    .map((attempt) => straggler(history, attempt, executions)))
  return executions.filter((execution) => !left.has(execution))
}

/** The executions around that word, with their processes, for the message of a fault. */
function around(word: string, executions: readonly Execution[]): string {
  const first = executions.findIndex((execution) => execution.word === word)
  const last = executions.findLastIndex((execution) => execution.word === word)
  return executions.slice(Math.max(0, first - 2), Math.min(last + 3, first + 20))
    .map(({ line, pid, atMs }) => `${line} by ${pid} at ${atMs}`).join(', ')
}

/** One run at a time, and no line is executed again after it was streamed. */
function faultsOfExecutions(history: ThreadHistory): string[] {
  const { attempts, executions } = history
  const seenAtMs = new Map(
    attempts.flatMap(({ seen }) => seen.map(({ line, atMs }) => [line, atMs] as const)),
  )
  return [
    ...twice(blocksOf(withoutStragglers(history, running(executions)))).map((word) =>
      `${word} ran while another one ran (${around(word, executions)})`
    ),
    ...executions.filter(({ line, atMs }) => atMs > (seenAtMs.get(line) ?? Infinity))
      .map(({ line }) => `${line} was executed again after it was told`),
  ]
}
