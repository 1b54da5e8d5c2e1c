/** The chat of a thread with its composer: words, answers, edits and branches. */

import { lazy, Suspense, useCallback, useMemo, useRef, useState } from 'react'

import { cancelRun } from '../api/runs.ts'
import type { Multitask } from '../api/runs.ts'
import { useLive } from '../live/live-store.ts'
import type { ChatMessage } from '../live/message-merge.ts'
import { Empty } from '../parts/empty.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { Chat } from './chat.tsx'
import { Composer, loadStrategy } from './composer.tsx'
// It says that the server is away: its code must not come from there then.
import { LiveLine } from './live-line.tsx'
import { withAnswers } from './messages.ts'
import type { PlacedAnswers } from './messages.ts'
import { placeOfState } from '../thread/screen/place-words.ts'
import { isSet } from '../thread/screen/settings-body.ts'
import css from '../thread/screen/columns.module.css'
import { turnsOf } from './turns.ts'
import type { Screen } from '../thread/screen/use-screen.ts'

const InterruptCards = lazy(async () => ({
  default: (await import('../interrupts/interrupt-cards.tsx')).InterruptCards,
}))
const Failures = lazy(async () => ({ default: (await import('./failures.tsx')).Failures }))
const HumanAnswers = lazy(async () => ({
  default: (await import('./human-answers.tsx')).HumanAnswers,
}))
const loadFoot = () => import('./turn-foot.tsx')
const TurnFoot = lazy(async () => ({ default: (await loadFoot()).TurnFoot }))
const loadQueue = () => import('./queue.tsx')
const Queue = lazy(async () => ({ default: (await loadQueue()).Queue }))
const RunSettings = lazy(async () => ({
  default: (await import('./run-settings.tsx')).RunSettingsDrawer,
}))

/**
 * Loads what a run is shown with, before there is one: the server may die right after it has begun.
 * What cannot be loaded is loaded when it is shown.
 */
const loadRunParts = () =>
  void Promise.all([loadQueue(), loadFoot(), loadStrategy()]).catch(() => {})

/** Chat of a thread with its queue, its questions and its composer. */
export function ChatPanel({ id, screen }: { readonly id: string; readonly screen: Screen }) {
  const { chat, usage, search, following: { store }, refusal } = screen
  const [answers, setAnswers] = useState<readonly PlacedAnswers[]>([])
  const messages = useMemo(() => withAnswers(screen.messages, answers), [screen.messages, answers])
  const hasRun = useLive(store, ({ run }) => run !== undefined)
  const acts = useChatActs(id, screen)
  const isAnswered = !screen.isBusy && screen.messages.at(-1)?.type === 'ai'
  const runId = isAnswered ? screen.shown?.metadata?.run_id : undefined
  const turns = useMemo(() => turnsOf(messages, usage?.runs ?? [], runId), [messages, usage, runId])
  const graphId = screen.choice.assistant?.graph_id
  const place = useRef('')
  if (chat.isFresh) place.current = search.at ?? 'now'
  const [settingsOpen, setSettingsOpen] = useState(false)
  const openSettings = useCallback(() => setSettingsOpen(true), [])
  if (chat.isPending) return <Reading />
  return (
    <>
      <Chat store={store} messages={messages} isNow={search.at === undefined} place={place.current}
        hasOlder={chat.hasOlder} older={chat.more} components={graphId === undefined ? undefined : {
        graphId,
        ui: chat.ui,
      }} turns={turns} edit={refusal === undefined ? acts.edit : undefined}
        empty={
          <Empty title="Say something">
            <p>The graph at the side shows where your message goes.</p>
          </Empty>
        }
      >
        {chat.error !== null && <ErrorNotice error={chat.error} retry={chat.retry} />}
        {acts.error !== undefined && <ErrorNotice error={acts.error} />}
        {search.at === undefined && hasRun && <LiveLine store={store} />}
        {screen.hasFailed && (
          <Suspense>
            <Failures id={id} screen={screen} />
          </Suspense>
        )}
        <Questions id={id} screen={screen} />
        {hasRuns(screen) && (
          <Suspense>
            <HumanAnswers id={id} screen={screen} found={setAnswers} />
          </Suspense>
        )}
        <LastFoot runId={runId} usage={usage} />
      </Chat>
      <Composer threadId={id} isBusy={screen.isBusy} hint={hintOf(screen)} refusal={refusal}
        send={acts.say} stop={acts.stop} openSettings={openSettings}
        hasSettings={isSet(screen.settings)} writing={loadRunParts} takeOpening={screen.takeOpening}
      >
        {screen.runs.length > 0 && (
          <Suspense>
            <Queue runs={screen.runs} refusal={refusal} failed={acts.fail} changed={() =>
              void screen.answers.runs.refetch()} />
          </Suspense>
        )}
      </Composer>
      {settingsOpen && (
        <Suspense>
          <RunSettings settings={screen.settings} change={screen.setSettings} close={() =>
            setSettingsOpen(false)} all={screen.choice.all} assistant={screen.choice.assistant}
            choose={(assistant) =>
              screen.go({ assistant }, true)} />
        </Suspense>
      )}
    </>
  )
}

/** Foot of the newest turn, once that is over. */
function LastFoot(
  { runId, usage }: { readonly runId: string | undefined } & Pick<Screen, 'usage'>,
) {
  if (runId === undefined) return null
  return (
    <Suspense>
      <TurnFoot isLast runId={runId} usage={usage?.runs.find(({ run_id: id }) => id === runId)} />
    </Suspense>
  )
}

/** The questions that a thread waits with. */
export function Questions({ id, screen }: { readonly id: string; readonly screen: Screen }) {
  const { interrupts, send, refusal } = screen
  if (interrupts.length === 0) return null
  return (
    <Suspense fallback={<Skeleton width="100%" height={120} />}>
      <InterruptCards threadId={id} interrupts={interrupts} refusal={refusal}
        answer={async (resume) => {
          await send.start({ command: { resume }, strict_resume: true })
        }} />
    </Suspense>
  )
}

function useChatActs(id: string, screen: Screen) {
  const { search, go, messages, send, branch, interrupts, following, runs, steps, headId } = screen
  const [error, setError] = useState<unknown>()
  const liveId = useLive(following.store, ({ run }) => run?.over === false ? run.runId : undefined)
  const sayFrom = async (at: string, kept: readonly ChatMessage[], words: string) => {
    branch.begin(kept)
    go({ at: undefined, vs: undefined })
    await send.say(words, { checkpoint_id: at }).catch((refused: unknown) => {
      branch.forget()
      throw refused
    })
  }
  const say = (words: string, strategy: Multitask | undefined) => {
    setError(undefined)
    const [first, ...others] = interrupts
    if (first !== undefined) {
      return send.start({
        command: { resume: others.length === 0 ? words : { [first.id]: words } },
      })
    }
    return search.at === undefined
      ? send.say(words, {}, strategy)
      : sayFrom(search.at, messages, words)
  }
  const running = liveId ?? runs.find(({ status }) => status === 'running')?.run_id
  const stop = () => {
    if (running !== undefined) cancelRun(id, running).catch(setError)
  }
  const edit = async (message: ChatMessage, words: string) => {
    const { stepBefore } = await import('./step-before.ts')
    const at = await stepBefore(id, steps, search.at ?? headId, message.id ?? '')
    const place = messages.findIndex((each) => each.id === message.id)
    await sayFrom(at, messages.slice(0, Math.max(0, place)), words)
  }
  return { error, fail: setError, say: useStable(say), stop: useStable(stop),
    edit: useStable(edit) }
}

/** A function that stays the same, and does what the newest one does. */
function useStable<Given extends readonly unknown[], Result>(
  act: (...given: Given) => Result,
): (...given: Given) => Result {
  const [place] = useState(() => ({ act }))
  place.act = act
  return useCallback((...given: Given) => place.act(...given), [place])
}

/** True if steps are of several runs: one of them may have answered a question. */
const hasRuns = ({ steps }: Screen): boolean =>
  steps.some(({ metadata }) => metadata?.run_id !== steps[0]?.metadata?.run_id)

function hintOf({ search, interrupts, shown }: Screen): string {
  if (interrupts.length === 1) return 'Your answer'
  if (interrupts.length > 1) return 'Your answer to the first question'
  return search.at === undefined ? 'Message' : `Branch from ${placeOfState(shown ?? {})}`
}

function Reading() {
  return (
    <div className={css['pad']} role="status" aria-label="Messages are read">
      {[60, 80, 45].map((width) => <Skeleton key={width} width={`${width}%`} height={32} />)}
    </div>
  )
}
