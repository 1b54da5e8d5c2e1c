/** The room that the inputs of all threads share: no tenant may take all of it. */

import { describe, expect, it } from 'vitest'

import { InputQuota } from '../../../../src/thread/context/input-quota.ts'
import type { Inputs } from '../../../../src/thread/context/input-quota.ts'

/** Takes 100 characters at a time until it is refused; returns how many it then holds. */
function fill(inputs: Inputs): number {
  let characters = 0
  for (; mayHold(inputs); characters += 100) inputs.hold({}, 100)
  return characters
}

function mayHold(inputs: Inputs, holder: object = {}): boolean {
  try {
    inputs.requireLeft(holder)
    return true
  } catch (error) {
    expect(error).toMatchObject({ code: 'full' })
    return false
  }
}

describe('the room of inputs', () => {
  it('gives one tenant at most three quarters, and leaves the rest to others', () => {
    const quota = new InputQuota(16_000)
    expect(fill(quota.of('greedy'))).toBe(12_000)
    expect(fill(quota.of('second'))).toBe(3_000)
    expect(mayHold(quota.of('modest'))).toBe(true)
    expect(mayHold(quota.of('greedy'))).toBe(false)
  })

  it('is refused once it is full, whichever tenants fill it', () => {
    const quota = new InputQuota(1_000)
    quota.of('one').hold({}, 500)
    expect(mayHold(quota.of('two'))).toBe(true)
    quota.of('two').hold({}, 500)
    expect(mayHold(quota.of('three'))).toBe(false)
  })

  it('counts what is held now, and never refuses the holder itself', () => {
    const quota = new InputQuota(1_000)
    const inputs = quota.of('one')
    const [holder, other] = [{}, {}]
    inputs.hold(holder, 2_000)
    expect(mayHold(inputs, other)).toBe(false)
    expect(mayHold(inputs, holder)).toBe(true)
    inputs.hold(holder, 100)
    expect(mayHold(inputs, other)).toBe(true)
    inputs.hold(holder, 0)
    expect(fill(inputs)).toBe(800)
  })
})
