/** What was told of one thread, and everything in it that cannot be true of a single history. */

/**
 * accepted     its run is durable
 * refused      there is no run: another one was unfinished
 * unavailable  there is no run: nobody could be reached
 * unknown      the connection broke first
 */
export type Answer = 'accepted' | 'refused' | 'unavailable' | 'unknown'

/** One try to start a run, and what its client heard. */
export interface Attempt {
  /** Of its own: every line that its run writes begins with it. */
  readonly word: string
  readonly strategy: 'enqueue' | 'reject' | 'interrupt' | 'rollback'
  /** Everything of one act was over before the next one began. */
  readonly act: number
  answer: Answer
  /** Once it is known. */
  runId?: string
  /** Lines that `updates` events of its stream told, in order. */
  readonly told: { readonly line: string, readonly atMs: number }[]
  /** Whether somebody followed its stream to a clean end, or waited for the result. */
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
  /** In the order in which they were answered. */
  readonly attempts: readonly Attempt[]
  /** In the end, when all are over. */
  readonly runs: readonly FoundRun[]
  /** The thread's state in the end. */
  readonly lines: readonly string[]
  /** In the order of the file; without those of members that stood still or were cut off. */
  readonly executions: readonly Execution[]
  /** How many lines a run writes that is not cut short. */
  readonly steps: number
}

/** A sentence for each thing that is wrong; none where the history is one. */
export function faultsOf(history: ThreadHistory): string[] {
  return [
    ...faultsOfRuns(history), ...faultsOfLines(history), ...faultsOfStreams(history),
    ...faultsOfExecutions(history),
  ].map((fault) => `thread ${history.threadId}: ${fault}`)
}

const runsOf = ({ runs }: ThreadHistory, { word }: Attempt) =>
  runs.filter((run) => run.word === word)

/** Whether a later run may have deleted the attempt's, which was not over yet. */
function mayBeRolledBack({ attempts }: ThreadHistory, attempt: Attempt): boolean {
  return attempts.slice(attempts.indexOf(attempt) + 1).some(({ strategy, answer, act }) =>
    act === attempt.act && strategy === 'rollback' &&
    (answer === 'accepted' || answer === 'unknown'))
}

/** Every acknowledged run is there, once, and over; no other one is. */
function faultsOfRuns(history: ThreadHistory): string[] {
  const known = new Set(history.attempts.map(({ word }) => word))
  return [
    ...history.runs.flatMap(({ word, status, runId }) => [
      ...known.has(word) ? [] : [`run ${runId} (${word}) was asked for by nobody`],
      ...status === 'success' || status === 'interrupted' ? []
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
      return found[0]!.runId === runId ? []
        : [`${word} is run ${found[0]!.runId}, and its client was told ${runId}`]
    }),
  ]
}

/** The words of lines in order, each repetition in a row once. */
const blocksOf = (lines: readonly { readonly word: string }[]) =>
  lines.map(({ word }) => word).filter((word, at, all) => word !== all[at - 1])

const twice = (words: readonly string[]) =>
  [...new Set(words.filter((word, at) => words.indexOf(word) !== at))]

const upTo = (word: string, count: number) =>
  Array.from({ length: count }, (_, at) => `${word} ${at + 1}`)

/** What the thread holds is one run after the other, each from its first line on. */
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
    ...String(inOrder) === String(accepted.filter((word) => blocks.includes(word))) ? []
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

/** A stream tells each line once and in order, and nothing that is not in the thread. */
function faultsOfStreams(history: ThreadHistory): string[] {
  return history.attempts.flatMap((attempt) => {
    const { word, told, followed } = attempt
    const lines = told.map(({ line }) => line)
    const [run] = runsOf(history, attempt)
    const missing = lines.filter((line) => !history.lines.includes(line))
    return [
      ...String(lines) === String(upTo(word, lines.length)) ? []
        : [`the stream of ${word} told ${lines.join()}`],
      ...run !== undefined && missing.length > 0
        ? [`the stream of ${word} told ${missing.join()}, which the thread has not`] : [],
      ...run?.status === 'success' && followed && told.length > 0 && told.length < history.steps
        ? [`the stream of ${word} ended after ${lines.length} of ${history.steps}`] : [],
    ]
  })
}

/** What one process executed until another one did. */
interface Tenure { readonly pid: number, readonly executions: Execution[] }

/**
 * Without what a process executed last and the next one executes again: a run may begin before the
 * log has it, and where its process dies then, it never began. One that lives has to know better.
 */
function standing(executions: readonly Execution[]): Execution[] {
  const tenures: Tenure[] = []
  for (const execution of executions) {
    if (tenures.at(-1)?.pid === execution.pid) tenures.at(-1)!.executions.push(execution)
    else tenures.push({ pid: execution.pid, executions: [execution] })
  }
  return tenures.flatMap(({ pid, executions: own }, at) => {
    const [next, ...later] = tenures.slice(at + 1)
    if (later.some((tenure) => tenure.pid === pid)) return own
    const again = own.findIndex(({ word }) =>
      next?.executions.some((execution) => execution.word === word))
    return again < 0 ? own : own.slice(0, again)
  })
}

/** Whether a later request ended the run before it was done. */
function wasCut(history: ThreadHistory, attempt: Attempt): boolean {
  const [run] = runsOf(history, attempt)
  return run === undefined ? mayBeRolledBack(history, attempt) : run.status === 'interrupted'
}

/**
 * What a run that was cut executed last, where it did so beside the next one: its worker hears of
 * the cut a little after the other one began in the same process. What it does until then is
 * refused, so it is in no thread and was told to nobody; and it is one line at most.
 */
function straggler({ lines }: ThreadHistory, { word, told }: Attempt,
  executions: readonly Execution[]): Execution | undefined {
  const at = executions.findLastIndex((execution) => execution.word === word)
  const last = executions[at]
  if (last === undefined) return undefined
  const before = executions.slice(0, at)
  const since = before.findLastIndex((execution) => execution.word === word)
  const isBeside = before.some((other, place) => place > since && other.pid === last.pid &&
    before.findIndex((execution) => execution.word === other.word) === place)
  const isSeen = lines.includes(last.line) || told.some(({ line }) => line === last.line)
  return isBeside && !isSeen ? last : undefined
}

/** Without the one line that each run may have executed after it was cut. */
function withoutStragglers(history: ThreadHistory, executions: readonly Execution[]): Execution[] {
  const left = new Set(history.attempts.filter((attempt) => wasCut(history, attempt))
    .map((attempt) => straggler(history, attempt, executions)))
  return executions.filter((execution) => !left.has(execution))
}

/** What was executed about there, and by whom. */
function around(word: string, executions: readonly Execution[]): string {
  const first = executions.findIndex((execution) => execution.word === word)
  const last = executions.findLastIndex((execution) => execution.word === word)
  return executions.slice(Math.max(0, first - 2), Math.min(last + 3, first + 20))
    .map(({ line, pid, atMs }) => `${line} by ${pid} at ${atMs}`).join(', ')
}

/** One run at a time, and nothing again that was told. */
function faultsOfExecutions(history: ThreadHistory): string[] {
  const { attempts, executions } = history
  const toldAtMs = new Map(attempts.flatMap(({ told }) =>
    told.map(({ line, atMs }) => [line, atMs] as const)))
  return [
    ...twice(blocksOf(withoutStragglers(history, standing(executions)))).map((word) =>
      `${word} ran while another one ran (${around(word, executions)})`),
    ...executions.filter(({ line, atMs }) => atMs > (toldAtMs.get(line) ?? Infinity))
      .map(({ line }) => `${line} was executed again after it was told`),
  ]
}
