/** Stages: started in order, stopped in reverse, and none may block the others for ever. */

import { describe, expect, it } from 'vitest'

import { createLifecycle } from '../../../cluster/index.ts'
import type { Stage } from '../../../cluster/index.ts'
import { virtualEnv } from '../../support/env.ts'

function setUp() {
  const env = virtualEnv()
  const said: string[] = []
  const stage = (name: string, more: Partial<Stage<string>> = {}): Stage<string> => ({
    startMs: 1_000,
    stopMs: 1_000,
    start: () => {
      said.push(`start ${name}`)
      return name
    },
    stop: (value) => {
      said.push(`stop ${value}`)
    },
    ...more,
  })
  return { env, said, stage, lifecycle: createLifecycle(env) }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('a lifecycle', () => {
  it('starts stages in order, returns their values, and stops them once in reverse', async () => {
    const { lifecycle, said, stage } = setUp()
    expect(await lifecycle.start('store', stage('store'))).toBe('store')
    await lifecycle.start('door', stage('door'))
    await Promise.all([lifecycle.stop(), lifecycle.stop()])
    expect(said).toEqual(['start store', 'start door', 'stop door', 'stop store'])
  })

  it('stops all started stages if a stage fails to start, and throws the reason', async () => {
    const { lifecycle, said, stage } = setUp()
    const stopped = Promise.withResolvers<void>()
    await lifecycle.start('store', stage('store', { stop: () => stopped.promise }))
    const start = () => {
      throw new Error('the port is taken')
    }
    const failed = expect(lifecycle.start('door', stage('door', { start }))
      .finally(() => said.push('failed'))).rejects.toThrow('the port is taken')
    await settle()
    expect(said).toEqual(['start store'])
    stopped.resolve()
    await failed
    expect(said).toEqual(['start store', 'failed'])
  })

  it('stops a stage that starts concurrently if another one fails', async () => {
    const { lifecycle, said, stage } = setUp()
    const slow = Promise.withResolvers<string>()
    const running = lifecycle.start('graphs', stage('graphs', { start: () => slow.promise }))
    const start = () => {
      throw new Error('the disk is full')
    }
    const failing = lifecycle.start('store', stage('store', { start }))
    slow.resolve('graphs')
    await expect(failing).rejects.toThrow('the disk is full')
    expect(await running).toBe('graphs')
    expect(said).toEqual(['stop graphs'])
    await expect(lifecycle.start('door', stage('door'))).rejects.toThrow('all is ending')
    expect(said).toEqual(['stop graphs'])
  })

  it('gives up a start that takes too long, and stops the stage if it comes later', async () => {
    const { env, lifecycle, said, stage } = setUp()
    const late = Promise.withResolvers<string>()
    const starting = lifecycle.start('store', stage('store', { start: () => late.promise }))
    const failed = expect(starting).rejects.toMatchObject({ code: 'unavailable',
      message: expect.stringMatching(/the stage store was not there within 1 s, because .*\.$/) })
    env.advance(1_000)
    await failed
    late.resolve('late')
    await settle()
    expect(said).toEqual(['stop late'])
  })

  it('aborts a stage that takes too long to stop, and continues without it', async () => {
    const { env, lifecycle, said, stage } = setUp()
    await lifecycle.start('store', stage('store'))
    const stop = (_: string, deadline: AbortSignal) =>
      new Promise(() => {
        deadline.addEventListener('abort', () => said.push('time is over'))
      })
    await lifecycle.start('door', stage('door', { stop }))
    const stopping = lifecycle.stop()
    await settle()
    env.advance(1_000)
    expect(said.at(-1)).toBe('time is over')
    env.advance(250)
    await stopping
    expect(said.at(-1)).toBe('stop store')
    expect(env.lines).toMatchObject([{ level: 'warn', details: { stage: 'door' } }])
    expect(env.timers()).toBe(0)
  })

  it('continues if a stage fails to stop', async () => {
    const { env, lifecycle, said, stage } = setUp()
    await lifecycle.start('store', stage('store'))
    const stop = () => {
      throw new Error('no')
    }
    await lifecycle.start('door', stage('door', { stop }))
    await lifecycle.stop()
    expect(said.at(-1)).toBe('stop store')
    expect(env.lines).toHaveLength(1)
  })

  it('logs nothing if a start fails, however others stop: the error is enough', async () => {
    const { env, lifecycle, said, stage } = setUp()
    const stop = () => {
      throw new Error('no')
    }
    await lifecycle.start('store', stage('store', { stop }))
    const start = () => {
      throw new Error('no such host')
    }
    await expect(lifecycle.start('door', stage('door', { start }))).rejects.toThrow('no such host')
    expect(env.lines).toEqual([])
    expect(said).not.toContain('stop door')
  })
})
