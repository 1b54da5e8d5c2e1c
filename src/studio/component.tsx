/**
 * The page of one component, in a frame that the Studio makes. It draws what it is sent, with the
 * Studio's React, and can reach neither the page around it nor any server.
 */

import * as React from 'react'
import * as ReactDom from 'react-dom'
import { createRoot } from 'react-dom/client'
import * as jsxRuntime from 'react/jsx-runtime'

import type { DrawMail, FrameMail, ReplyMail, ShowMail } from './components/frame-mail.ts'

type Component = React.ComponentType<Record<string, unknown>>
type Render = (name: string, place: string) => void

const place = 'place'
const send = (mail: ReplyMail) => parent.postMessage(mail, '*')
const fail = (reason: string) => send({ kind: 'failed', reason })

let drawn: DrawMail = { kind: 'draw', props: {}, meta: undefined, theme: 'light' }
let draw = () => {}

/** Refuses what would go on with the thread: a component in the Studio only shows. */
const refused = async () => send({ kind: 'wanted' })
const stream = { values: {}, messages: [], history: [], toolCalls: [], interrupts: [],
  interrupt: undefined, error: undefined, isLoading: false, isThreadLoading: false, branch: '',
  assistantId: '', threadId: null, client: {}, submit: refused, stop: refused, respond: refused,
  joinStream: refused, setBranch: refused, getMessagesMetadata: () => undefined }

/** The modules that a page with the SDK brings. */
const modules: Readonly<Record<string, unknown>> = {
  react: React,
  'react-dom': ReactDom,
  'react/jsx-runtime': jsxRuntime,
  '@langchain/langgraph-sdk/react': { useStream: () => stream },
  '@langchain/langgraph-sdk/react-ui': {
    useStreamContext: () => ({ ...stream, meta: drawn.meta }),
    LoadExternalComponent: () => null,
  },
}

const globals = globalThis as unknown as Record<PropertyKey, unknown>

// No directive of a policy that browsers know stops it.
for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection']) delete globals[name]

globals[Symbol.for('LGUI_REQUIRE')] = (name: string) => {
  if (Object.hasOwn(modules, name)) return modules[name]
  throw new Error(`It takes ${name} from its page, and the Studio does not have that.`)
}

globals[Symbol.for('LGUI_EXT_STORE')] = {
  respond: (_place: string, component: Component, target: HTMLElement) => {
    const root = createRoot(target, { onUncaughtError: (error) => fail(sentenceOf(error)) })
    draw = () => {
      document.documentElement.style.colorScheme = drawn.theme
      document.documentElement.dataset['theme'] = drawn.theme
      root.render(React.createElement(component, drawn.props))
    }
    draw()
  },
}

function sentenceOf(error: unknown): string {
  return `The component failed: ${error instanceof Error ? error.message : String(error)}`
}

function show({ script, sheet, globalName, name }: ShowMail): void {
  const host = document.createElement('div')
  host.id = place
  const shadow = host.attachShadow({ mode: 'open' })
  const style = document.createElement('style')
  style.textContent = sheet
  shadow.append(style)
  document.body.replaceChildren(host)
  draw = () => {}
  const code = document.createElement('script')
  code.src = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }))
  code.addEventListener('load', () => {
    try {
      ;(globals[globalName] as { readonly render: Render }).render(name, place)
      if (shadow.childElementCount < 2) fail('There is no component of this name.')
    } catch (error) {
      fail(sentenceOf(error))
    }
  })
  code.addEventListener('error', () => fail('Its script could not be loaded.'))
  document.head.append(code)
  new ResizeObserver(() => {
    send({ kind: 'size', height: document.documentElement.getBoundingClientRect().height })
  }).observe(host)
}

/** The script failed while it was loaded: it left no variable. */
addEventListener('error', ({ error }) => {
  if (document.getElementById(place)?.shadowRoot?.childElementCount === 1) fail(sentenceOf(error))
})

addEventListener('message', ({ source, data }: MessageEvent<FrameMail>) => {
  if (source !== parent) return
  if (data.kind === 'ping') send({ kind: 'pong' })
  if (data.kind === 'show') show(data)
  if (data.kind === 'draw') {
    drawn = data
    draw()
  }
})

send({ kind: 'ready' })
