/** The checker accepts correct histories of protocol v2, A2A, MCP and replays. */

import { describe, expect, it } from 'vitest'

import { checkHistory } from '../../../verify/checker/check.ts'
import { answeredTool, calledTool, readTask, sentMessage } from './agent-histories.ts'
import { History } from './made-history.ts'
import { lifecycle, readEvents, startCommand, values } from './protocol-histories.ts'
import { readCall, readReplay, readVerdicts, startReplay } from './replay-histories.ts'

const created = () => new History().create()

describe('The checker of histories of other protocols', () => {
  it('accepts runs of protocol v2, their events, and refusals in the envelope', () => {
    const refused = { type: 'error', error: 'invalid_argument' }
    const { entries } = created().call('v2.start', startCommand())
      .call('v2.state', { path: '/threads/t/commands',
        response: { type: 'success', result: { values: { log: ['a:in'] } } } })
      .view('a', 'success').state('a:in', 'a:out')
      .call('v2.events',
        readEvents([lifecycle(1, 'running'), values(2), lifecycle(3, 'completed')]))
      .call('v2.events', readEvents([lifecycle(3, 'completed')], { since: 2 }))
      .call('v2.events', readEvents([lifecycle(1, 'running'), values(2), values(4)]))
      .call('v2.tree', { body: { params: { run_id: 'a' } },
        response: { type: 'success', result: { tree: { status: 'completed' } } } })
      .call('wrong.v2.command', { path: '/threads/t/commands', response: refused })
    expect(checkHistory(entries)).toEqual([])
  })

  it('accepts that the input of a command answers an interrupt', () => {
    const { entries } = created().run('b', { action: 'ask' }).view('b', 'success').state('b:in')
      .call('v2.start', startCommand()).view('a', 'success').state('b:in', 'b:answer:a', 'b:out')
    expect(checkHistory(entries)).toEqual([])
  })

  it('accepts tasks and tools', () => {
    const { entries } = created().call('a2a.send', sentMessage('COMPLETED'))
      .call('a2a.repeat', sentMessage('COMPLETED')).call('a2a.get', readTask('COMPLETED'))
      .view('a', 'success').state('a:in', 'a:out')
      .call('mcp.call', calledTool({ structuredContent: { log: ['a:in', 'a:out'] } }))
      .call('mcp.call', calledTool({ isError: true }, 'fail'))
      .call('mcp.call', calledTool({ inputRequests: { q: {} } }, 'ask'))
      .call('mcp.answer', answeredTool(['a:in', 'a:answer:b', 'a:out']))
      .call('wrong.a2a.task', { path: '/a2a/verify', response: { error: { code: -32_001 } } })
    expect(checkHistory(entries)).toEqual([])
  })

  it('finds a failure in the envelope of JSON-RPC', () => {
    const { entries } = created().call('a2a.get', { path: '/a2a/verify',
      response: { error: { code: -32_603 } } })
    expect(checkHistory(entries).map(({ rule }) => rule)).toContain('no 5xx but 503')
  })

  it('accepts recordings and replays, also of runs that are deleted later', () => {
    const { entries } = created().run('a', { action: 'charge' }).call('run.call', readCall('a'))
      .call('replay.start', startReplay()).call('replay.runs', readVerdicts('same', 'a'))
      .call('run.delete', { path: '/threads/t/runs/a', status: 204 }).view('a', 'gone')
      .call('replay.runs', readVerdicts('same', 'a')).quiet()
      .call('replay.get', readReplay('done', 'e'))
    expect(checkHistory(entries)).toEqual([])
  })

  it('finds a deleted run in a replay that was started later', () => {
    const { entries } = created().run('a')
      .call('run.delete', { path: '/threads/t/runs/a', status: 204 }).view('a', 'gone')
      .call('replay.start', startReplay()).call('replay.runs', readVerdicts('same', 'a'))
    expect(checkHistory(entries).map(({ rule }) => rule)).toEqual(['replays have runs that exist'])
  })
})
