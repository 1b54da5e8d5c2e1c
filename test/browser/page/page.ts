/**
 * A page with the hook of the ecosystem, as its users write one: what the hook knows is shown, and
 * each button makes one call. The address says which server, assistant, thread and transport.
 */

import { useStream } from '@langchain/react'
import { createElement as h, useState } from 'react'
import type { ReactElement } from 'react'
import { createRoot } from 'react-dom/client'

type Strategy = 'enqueue' | 'interrupt' | 'reject' | 'rollback'

interface Message {
  readonly id?: string
  readonly type: string
  readonly text: string
}

const query = new URLSearchParams(location.search)

function Page(): ReactElement {
  const [present, setPresent] = useState(true)
  return h('main', {}, h(button, { name: 'mount', click: () => setPresent(!present) }),
    present && h(Chat))
}

function Chat(): ReactElement {
  const [text, setText] = useState('')
  const [threadId, setThreadId] = useState(query.get('thread'))
  const stream = useStream<Record<string, unknown>>({
    apiUrl: query.get('server')!,
    assistantId: query.get('assistant')!,
    threadId,
    onThreadId: setThreadId,
    transport: query.get('transport') === 'websocket' ? 'websocket' : 'sse',
    // On a machine that has other things to do, a server takes longer to start than five attempts.
    maxReconnectAttempts: 20,
  })
  const submit = (options: { multitaskStrategy?: Strategy } = {}) => {
    const key = query.get('key')
    const input = key === null ? { messages: [{ type: 'human', content: text }] } : { [key]: text }
    return stream.submit(input, { ...options, onError: () => undefined })
  }
  const respond = (options = {}) => stream.respond(text, options)
  // Without an id, the hook needs the event that asked: a state that it has read is not enough.
  const respondStrictly = () =>
    respond({ interruptId: stream.interrupts[0]?.id, strictResume: true })
  const fields: Record<string, string> = {
    thread: stream.threadId ?? '',
    state: stream.isThreadLoading ? 'reading' : stream.isLoading ? 'running' : 'idle',
    error: stream.error instanceof Error
      ? `${stream.error.name}: ${stream.error.message}`
      : String(stream.error ?? ''),
    values: JSON.stringify(stream.values),
    subgraphs: [...stream.subgraphsByNode.keys()].join(' '),
    tools: stream.toolCalls.map(({ name }) => name).join(' '),
  }
  return h('div', {},
    h('input', { 'aria-label': 'text', value: text,
      onChange: (event) => setText((event.target as HTMLInputElement).value) }),
    h(button, { name: 'send', click: () => submit() }),
    ...(['enqueue', 'interrupt', 'reject', 'rollback'] as const).map((multitaskStrategy) =>
      h(button, { key: multitaskStrategy, name: multitaskStrategy, click: () =>
        submit({ multitaskStrategy }) })
    ), h(button, { name: 'answer', click: () => respond() }),
    h(button, { name: 'answer strictly', click: respondStrictly }),
    h(button, { name: 'stop', click: () => stream.stop() }),
    h(button, { name: 'leave', click: () => stream.disconnect() }),
    ...Object.entries(fields).map(([name, value]) =>
      h('output', { key: name, 'aria-label': name }, value)
    ), h('ol', { 'aria-label': 'messages' }, ...(stream.messages as Message[])
      .map(({ id, type, text: content }, i) =>
        h('li', { key: i, 'data-id': id }, `${type}: ${content}`)
      )),
    h('ol', { 'aria-label': 'questions' },
      ...stream.interrupts.map(({ id, value }) =>
        h('li', { key: id, 'data-id': id }, JSON.stringify(value))
      )))
}

/** What a call throws is shown, since a test cannot see it otherwise. */
function button({ name, click }: { name: string; click: () => unknown }): ReactElement {
  const [fault, setFault] = useState('')
  const call = async () => {
    setFault('')
    try {
      await click()
    } catch (error) {
      setFault(String(error))
    }
  }
  return h('span', {}, h('button', { onClick: () => void call() }, name),
    fault !== '' && h('output', { 'aria-label': `${name} failed` }, fault))
}

createRoot(document.querySelector('#page')!).render(h(Page))
