/** What happened outside of one thread: promises about effects, and what persons allowed. */

/** An effect of the node, whatever its input is. */
export type Label = 'charge' | 'mail' | 'door a' | 'door b'

/** An effect with an input, as questions show it. */
export interface Asked {
  readonly label: Label
  readonly text: string
}

/**
 * A decision of a person, and the run that brings it. The last decision about an effect counts:
 * `do` allows one execution of it, `fail` one of an effect with another input.
 */
interface Decided extends Asked {
  readonly decision: string
  runId: string
  isUsed: boolean
}

/** What the receivers got since an input. */
interface Epoch {
  readonly runId: string
  readonly before: Epoch | undefined
  /** Keys of charges. */
  readonly keys: Set<string>
  readonly executed: Set<Label>
  /** Oldest first. */
  decided: Decided[]
  /** The effect that the last question was about, until it is executed. */
  asked: Asked | undefined
}

interface GivenValue {
  readonly value: string
  readonly epoch: Epoch
}

/** Bodies by key, and the life that used the key, of a thread and its copies. */
export type Keys = Map<string, { readonly text: string; readonly by: ThreadLife }>

/** Run id of what is about to start: the node may get its resume value at once. */
const nextRun = 'next'

/** A thread as the persons and the receivers around it see it. */
export class ThreadLife {
  readonly #keys: Keys
  #epoch: Epoch | undefined
  /** Resume values by run, without removed runs. */
  readonly #values = new Map<string, GivenValue>()

  constructor(keys: Keys = new Map()) {
    this.#keys = keys
  }

  /** A copy has the history so far. Orders to do an effect are those of the original. */
  copy(): ThreadLife {
    const copy = new ThreadLife(this.#keys)
    const epoch = this.#epoch
    copy.#epoch = epoch &&
      { ...epoch, keys: new Set(epoch.keys), executed: new Set(epoch.executed),
        decided: epoch.decided.flatMap((each) => each.decision === 'do' ? [] : [{ ...each }]) }
    for (const [runId, given] of this.#values) {
      if (given.epoch === epoch) copy.#values.set(runId, { ...given, epoch: copy.#epoch! })
    }
    return copy
  }

  /** A run with an input makes new tasks, with effects of their own. */
  begin(runId: string): void {
    this.#epoch = { runId, before: this.#epoch, keys: new Set(), executed: new Set(), decided: [],
      asked: undefined }
  }

  /** A run that is removed takes its resume value, its decision or its input with it. */
  forget(runId: string | undefined): void {
    if (runId === undefined) return
    this.#values.delete(runId)
    const epoch = this.#epoch
    if (epoch?.runId === runId) this.#epoch = epoch.before
    if (epoch) epoch.decided = epoch.decided.filter((each) => each.runId !== runId)
  }

  /** A person sees the question about an effect. */
  asks(asked: Asked): void {
    this.#epoch!.asked = asked
  }

  /** A person decides about the effect of the last question. It counts until that is executed. */
  decides(decision: string): void {
    const { asked, decided } = this.#epoch ?? {}
    if (asked) decided!.push({ ...asked, decision, runId: nextRun, isUsed: false })
  }

  /** A person gives the node a resume value. */
  gives(value: string): void {
    this.#values.set(nextRun, { value, epoch: this.#epoch! })
  }

  /** The run of the last decision or resume value has an id. */
  named(runId: string): void {
    const given = this.#values.get(nextRun)
    if (given) this.#values.set(runId, given)
    this.#values.delete(nextRun)
    for (const each of this.#epoch?.decided ?? []) {
      if (each.runId === nextRun) each.runId = runId
    }
  }

  /** True if a person gave this value, to a run that was not removed, since the last input. */
  isGiven(value: unknown): boolean {
    return [...this.#values.values()]
      .some((given) => given.value === value && given.epoch === this.#epoch)
  }

  /** A receiver got a request. Returns the promises that this breaks. */
  receives(label: Label,
    { key, text }: { readonly key?: string; readonly text: string }): string[] {
    const epoch = this.#epoch!
    const { executed } = epoch
    const isAllowed = this.#uses(epoch, { label, text }) || !executed.has(label)
    executed.add(label)
    if (epoch.asked && isSame(epoch.asked, { label, text })) epoch.asked = undefined
    if (label === 'charge') return this.#charged(epoch, { key: key ?? '', text, isAllowed })
    return isAllowed ? [] : [`${label} again without a decision`]
  }

  /** Uses the decisions about an effect that is executed. Returns false if none allows that. */
  #uses({ decided }: Epoch, started: Asked): boolean {
    const last = decided.filter((each, at) =>
      each.label === started.label && !decided.slice(at + 1).some((later) => isSame(later, each))
    )
    const allowing = last.find((each) =>
      !each.isUsed && each.decision === (isSame(each, started) ? 'do' : 'fail')
    )
    for (const each of decided) if (each === allowing || isSame(each, started)) each.isUsed = true
    return allowing !== undefined
  }

  #charged({ keys }: Epoch,
    { key, text, isAllowed }: { readonly key: string; readonly text: string;
      readonly isAllowed: boolean }): string[] {
    const known = this.#keys.get(key)
    if (!known) this.#keys.set(key, { text, by: this })
    const isNew = !keys.has(key)
    keys.add(key)
    return [
      ...key === '' ? ['a charge has no key'] : [],
      ...isNew && !isAllowed ? [`${keys.size} keys for one charge`] : [],
      ...known && known.text !== text ? ['one key for two bodies'] : [],
      ...known && known.by !== this ? ['a copy has a key of its original'] : [],
    ]
  }
}

function isSame(one: Asked, other: Asked): boolean {
  return one.label === other.label && one.text === other.text
}
