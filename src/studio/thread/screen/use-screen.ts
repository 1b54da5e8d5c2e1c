/** Everything that the page of a thread shows and does, from its address and its answers. */

import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo, useRef, useState } from 'react'

import { textOf } from '../../api/content.ts'
import { useRefusal } from '../../api/refusal.ts'
import { stateAt } from '../../api/states.ts'
import type { ThreadState } from '../../api/states.ts'
import { titleOf } from '../../api/thread-names.ts'
import type { Interrupt } from '../../api/threads.ts'
import { trialOf } from '../../assistants/trial.ts'
import { useLive } from '../../live/live-store.ts'
import type { LiveStore } from '../../live/live-store.ts'
import type { ChatMessage } from '../../live/message-merge.ts'
import type { NodeStates } from '../../live/node-state.ts'
import { nodesAt, timedBySteps } from '../../live/node-times.ts'
import { statusOf } from '../../parts/status.tsx'
import type { ThreadSearch } from '../../addresses/thread.ts'
import { plainSettings } from './settings-body.ts'
import { useAssistant } from './use-assistant.ts'
import { useBranch } from './use-branch.ts'
import { useMessages } from './use-messages.ts'
import { useSend } from './use-send.ts'
import type { Sent } from './use-send.ts'
import { keysOf } from './newest-state.ts'
import { parentIn, useFollowing, useFreshness, useRunUnderWay, useThread } from './use-thread.ts'
import { useUsage } from './use-usage.ts'

/** The address, and a way to change some of it. */
function useAddress() {
  const search = useSearch({ from: '/threads/$id' })
  const navigate = useNavigate({ from: '/threads/$id' })
  const go = useCallback((change: Partial<ThreadSearch>, replace = false) => {
    void navigate({ search: (old) => ({ ...old, ...change }), replace })
  }, [navigate])
  return { search, go }
}

/** Returns what is true once: for the first part of the page that wants the focus. */
function useOpening(): () => boolean {
  const isOpening = useRef(true)
  return useCallback(() => {
    const was = isOpening.current
    isOpening.current = false
    return was
  }, [])
}

/** The screen of a thread. */
export function useScreen(id: string) {
  const { search, go } = useAddress()
  const takeOpening = useOpening()
  const following = useFollowing(id)
  const { store, watch } = following
  useFreshness(id, store)
  const answers = useThread(id)
  const { thread, head, history, runs } = answers
  useRunUnderWay(watch, runs.data)
  const choice = useAssistant(search.assistant, thread.data?.metadata, head.data)
  const isLive = useLive(store, ({ run }) => run !== undefined && !run.over)
  const liveId = useLive(store, ({ run }) => run?.runId)
  const overMs = useLive(store, ({ run }) => run?.overMs ?? 0)
  const askedMs = head.data?.askedMs ?? 0
  const isBusy = isLive || thread.data?.status === 'busy'
  const [settings, setSettings] = useState(() => ({ ...plainSettings, ...trialOf(id) }))
  const refusal = useRefusal()
  const chat = useMessages(id, search.at, choice.isChat !== false)
  const send = useSend({ threadId: id, watch, isBusy, settings,
    assistantId: choice.assistant?.assistant_id })
  const steps = history.data?.steps ?? []
  const usage = useUsage(id, !isBusy && head.data?.metadata?.run_id !== undefined)
  const shown = search.at === undefined
    ? head.data
    : steps.find(({ checkpoint_id: each }) => each === search.at)
  const headId = head.data?.checkpoint_id ?? undefined
  const branch = useBranch({ headId, askedMs, overMs })
  const known = search.at === undefined ? branch.messages ?? chat.messages : chat.messages
  const messages = useMemo(() => withSent(known, search.at === undefined ? send.sent : [], liveId),
    [known, send.sent, search.at, liveId])
  /** Runs from a step of the past, and shows what comes of it. */
  const runAgain = async (at: string) => {
    branch.begin(messages)
    go({ at: undefined, vs: undefined })
    await send.start({ input: null, checkpoint_id: at }).catch((refused: unknown) => {
      branch.forget()
      throw refused
    })
  }
  const title = useTitle(id, thread.data, choice.isChat === true ? chat : undefined,
    search.at === undefined)
  const liveNodes = useLive(store, ({ run }) => run?.nodes)
  const hasFailed = useHasFailed(store, shown, search.at === undefined, thread.data?.status)
  const stillNodes = useMemo(() => nodesAt(shown, parentIn(steps, shown)), [shown, steps])
  return { search, go, takeOpening, following, answers, choice, isBusy, settings, setSettings, chat,
    messages, usage, send, steps, shown, hasFailed, title, runs: runs.data ?? [], headId, branch,
    runAgain, status: isBusy ? 'running' as const : statusOf(thread.data?.status ?? 'idle'),
    refusal, interrupts: search.at === undefined && !isBusy && askedMs >= overMs
      ? interruptsOf(head.data)
      : [], nodes: search.at === undefined && hasNodes(liveNodes)
      ? isBusy ? liveNodes : { ...timedBySteps(liveNodes, steps), ...openIn(stillNodes) }
      : stillNodes }
}

/** Values and callbacks of the page of a thread. */
export type Screen = ReturnType<typeof useScreen>

/** True if there may be failures to show: what they are is read when they are. */
function useHasFailed(store: LiveStore, shown: ThreadState | undefined, isNow: boolean,
  threadStatus: string | undefined): boolean {
  const hasError = useLive(store, ({ run }) => run?.error !== undefined)
  return (isNow && (hasError || threadStatus === 'error')) ||
    (shown?.tasks?.some(({ error }) => error != null) ?? false)
}

/** A run that was undone takes its message with it. */
function withSent(known: readonly ChatMessage[], sent: readonly Sent[],
  liveId: string | undefined): readonly ChatMessage[] {
  const ids = new Set(known.map(({ id }) => id))
  const more = sent.filter(({ runId }) => runId === undefined || runId === liveId)
    .map(({ message }) => message).filter(({ id }) => !ids.has(id))
  return more.length === 0 ? known : [...known, ...more]
}

/**
 * Questions of the newest state: never those that a stream spoke of before. Those of a state that
 * was read before the run ended may be answered already: two questions of one task have one id.
 */
function interruptsOf(head: ThreadState | undefined): readonly Interrupt[] {
  return head?.tasks?.flatMap(({ interrupts = [] }) => interrupts) ?? []
}

function useTitle(id: string, thread: Parameters<typeof titleOf>[0] | undefined,
  chat: ReturnType<typeof useMessages> | undefined, isNow: boolean): string {
  const named = thread === undefined ? '' : titleOf(thread)
  const isUnnamed = named.startsWith('Thread ')
  const begin = isNow && chat?.hasOlder === false ? chat.messages[0] : undefined
  const isAsked = isUnnamed && begin === undefined && chat !== undefined &&
    chat.messages.length > 0
  const { data: asked } = useQuery({ queryKey: [...keysOf(id).thread, 'first words'],
    enabled: isAsked, staleTime: 60_000, queryFn: async ({ signal }) => {
      const { values } = await stateAt(id, undefined, ['values.messages[0:1]'], signal)
      const [message] = (values?.['messages'] ?? []) as unknown as readonly ChatMessage[]
      return firstWords(message)
    } })
  const first = begin === undefined ? asked : firstWords(begin)
  return isUnnamed && first !== undefined && first !== '' ? first : named
}

const firstWords = (message: ChatMessage | undefined): string =>
  textOf(message?.content).slice(0, 120).trim()

/** A run whose starter asked for no tasks tells nothing of nodes: the newest state does. */
const hasNodes = <Value extends object>(value: Value | undefined): value is Value =>
  value !== undefined && Object.keys(value).length > 0

/** Nodes that did not end, as the newest state has them: a page that comes later sees the same. */
const openIn = (nodes: NodeStates): NodeStates =>
  Object.fromEntries(
    Object.entries(nodes).filter(([, { state }]) => state === 'next' || state === 'failed'),
  )
