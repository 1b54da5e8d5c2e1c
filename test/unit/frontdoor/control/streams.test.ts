/** Events and lines of deployments: read once, followed, and taken up again. */

import { describe, expect, it } from 'vitest'

import type { DeploymentLine } from '../../../../src/deployment/index.ts'
import type { VirtualEnv } from '../../../support/env.ts'
import { framesOf } from '../../../support/wire.ts'
import { activeIn, aManifest, openKeyed } from '../mount/deployment-door.ts'

const root = '/control/v1/deployments/shop'

async function opened() {
  const all = await openKeyed()
  const shop = await activeIn(all.deployments)
  const key = await all.keyOf('acme', 'deployer')
  const { records } = all.deployments
  const note = async (count: number) => {
    for (let at = 0; at < count; at++) {
      await records.note(shop.id, { kind: 'pointer', by: 'ann', data: { active: `r${at}` } })
    }
  }
  const open = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${all.door.url}${root}${path}`, { headers: { 'x-api-key': key, ...headers } })
  return { ...all, shop, note, open }
}

const line = (seq: number, member = 'm1', more: Partial<DeploymentLine> = {}): DeploymentLine => ({
  member,
  seq,
  atMs: 1_800_000_000_000 + seq,
  level: 'info',
  revision: 'r1',
  text: `line ${seq}`,
  thread_id: null,
  run_id: null,
  ...more,
})

/** Moves the time of the door second by second until this has settled. */
async function meanwhile({ env }: { readonly env: VirtualEnv }, coming: Promise<unknown>) {
  const state = { isThere: false }
  const settled = coming.finally(() => {
    state.isThere = true
  })
  while (!state.isThere) {
    env.advance(1_000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await settled
}

describe('events', () => {
  it('come oldest first, all of them, to the newest', async () => {
    const { note, open } = await opened()
    await note(250)
    const answer = await open('/events?follow=false')
    expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/)
    const frames = (await answer.text()).split('\n\n').filter((text) => text !== '')
    expect(frames).toHaveLength(250)
    const data = (frames[0]!).split('\n')
    expect(data[0]).toBe('event: pointer')
    expect(data[2]).toBe('id: 1')
    expect(JSON.parse(data[1]!.slice('data: '.length)))
      .toEqual({ seq: 1, at: expect.stringMatching(/^\d{4}-/), by: 'ann', kind: 'pointer',
        active: 'r0' })
  })

  it('go on after the last one that was seen', async () => {
    const { note, open } = await opened()
    await note(5)
    const text = await (await open('/events?follow=false', { 'last-event-id': '3' })).text()
    expect(text.match(/^id: .*$/gm)).toEqual(['id: 4', 'id: 5'])
    const odd = await (await open('/events?follow=false', { 'last-event-id': 'x' })).text()
    expect(odd.match(/^id: /gm)).toHaveLength(5)
  })

  it('are followed, and end when the deployment goes', async () => {
    const { deployments, shop, note, open } = await opened()
    await note(1)
    const frames = framesOf((await open('/events')).body!)
    expect((await frames.next()).value?.text).toContain('id: 1')
    await note(1)
    deployments.changed('shop')
    expect((await frames.next()).value?.text).toContain('id: 2')
    deployments.records.rows.set('shop', { ...deployments.records.rows.get(shop.name)!,
      removing: true })
    deployments.changed('shop')
    expect((await frames.next()).value?.text).toMatch(/^event: error\ndata: .*was removed/)
    expect((await frames.next()).done).toBe(true)
  })

  it.each(['/events', '/logs?follow=true'])('of one that goes before the watch begins: %s',
    async (path) => {
      const { deployments, shop, open } = await opened()
      const { watch } = deployments.serving
      Object.assign(deployments.serving, { watch: (...given: Parameters<typeof watch>) => {
        deployments.records.rows.set('shop', { ...shop, removing: true })
        deployments.changed('shop')
        return watch(...given)
      } })
      expect(await (await open(path)).text()).toContain('The deployment was removed.')
    })

  it('that other members noted come at once', async () => {
    const { deployments, note, open } = await opened()
    await note(1)
    const frames = framesOf((await open('/events')).body!)
    await frames.next()
    await note(1)
    deployments.updated()
    expect((await frames.next()).value?.text).toContain('id: 2')
    await frames.return(undefined)
    await expect.poll(() => deployments.waiting()).toBe(0)
  })

  it('that other members noted come without news of them', async () => {
    const { door, note, open } = await opened()
    await note(1)
    const frames = framesOf((await open('/events')).body!)
    await frames.next()
    await note(1)
    const next = frames.next()
    await meanwhile(door, next)
    expect((await next).value?.text).toContain('id: 2')
    await frames.return(undefined)
  })
})

describe('lines', () => {
  it('are JSON, one a line, or events', async () => {
    const { deployments, open } = await opened()
    deployments.lines.push(line(1), line(2, 'm2', { level: 'error', text: 'a\nb', run_id: 'r' }))
    const answer = await open('/logs')
    expect(answer.headers.get('content-type')).toMatch(/^application\/x-ndjson/)
    const rows = (await answer.text()).trimEnd().split('\n').map((text) => JSON.parse(text))
    expect(rows).toEqual([{ at: expect.any(String), level: 'info', member: 'm1', revision: 'r1',
      text: 'line 1', thread_id: null, run_id: null },
      expect.objectContaining({ level: 'error', text: 'a\nb', run_id: 'r' })])
    const events = await (await open('/logs', { accept: 'text/event-stream' })).text()
    expect(events.match(/^event: line$/gm)).toHaveLength(2)
  })

  it('of other members come at once, and are looked for rarely while there are none', async () => {
    const { door, deployments, open } = await opened()
    let looks = 0
    const { logs } = deployments
    const { lines } = logs
    Object.assign(logs, { lines: (...query: Parameters<typeof lines>) => {
      looks++
      return lines(...query)
    } })
    const answer = await open('/logs?follow=true')
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
    for (let second = 0; second < 60; second++) {
      door.env.advance(1_000)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(looks).toBeLessThanOrEqual(1 + 60 / 5)
    deployments.lines.push(line(1, 'm2'))
    deployments.updated()
    expect((await reader.read()).value).toContain('line 1')
    await reader.cancel()
    await expect.poll(() => deployments.waiting()).toBe(0)
  })

  it('are followed, and each comes once', async () => {
    const { door, deployments, open } = await opened()
    deployments.lines.push(line(1))
    const reader = (await open('/logs?follow=true')).body!.pipeThrough(new TextDecoderStream())
      .getReader()
    expect((await reader.read()).value).toContain('line 1')
    deployments.lines.push(line(2))
    const next = reader.read()
    await meanwhile(door, next)
    const text = (await next).value!
    expect([text.includes('line 2'), text.includes('line 1')]).toEqual([true, false])
    await reader.cancel()
  })

  it('that are followed end with an error when the deployment goes', async () => {
    const { deployments, shop, open } = await opened()
    deployments.lines.push(line(1))
    const readers = await Promise.all(['application/x-ndjson', 'text/event-stream'].map(
      async (accept) => {
        const { body } = await open('/logs?follow=true', { accept })
        const reader = body!.pipeThrough(new TextDecoderStream()).getReader()
        expect((await reader.read()).value).toContain('line 1')
        return reader
      },
    ))
    deployments.records.rows.set('shop', { ...deployments.records.rows.get(shop.name)!,
      removing: true })
    deployments.changed('shop')
    const rest = async (reader: typeof readers[number]) => {
      let text = ''
      for (let read = await reader.read(); !read.done; read = await reader.read())
        text += read.value
      return text
    }
    const [lines, events] = await Promise.all(readers.map(rest))
    expect(JSON.parse(lines!)).toEqual({ error: 'not_found',
      message: 'The deployment was removed.' })
    expect(events).toMatch(/^event: error\ndata: .*was removed/)
    await expect.poll(() => deployments.waiting()).toBe(0)
  })

  it('of a build are those of its events', async () => {
    const { deployments, shop, open } = await opened()
    const { manifest } = aManifest()
    await deployments.records.beginRevision(shop, { manifest: manifest as never, message: '',
      by: '' })
    for (const revision of ['r1', 'r2']) {
      await deployments.records.note(shop.id, { kind: 'build', by: 'heddle',
        data: { revision, text: `of ${revision}` } })
    }
    const text = await (await open('/logs?build=r1')).text()
    expect(JSON.parse(text)).toMatchObject({ text: 'of r1', level: 'info' })
    expect((await open('/logs?build=r9')).status).toBe(404)
  })

  it('are bounded, and questions must make sense', async () => {
    const { deployments, open } = await opened()
    deployments.lines.push(...Array.from({ length: 20 }, (_, at) => line(at + 1)))
    expect((await (await open('/logs?limit=3')).text()).trimEnd().split('\n')).toHaveLength(3)
    for (const query of ['limit=0', 'limit=5001', 'level=loud', 'since=yesterday', 'revision=x']) {
      expect([query, (await open(`/logs?${query}`)).status]).toEqual([query, 422])
    }
  })
})
