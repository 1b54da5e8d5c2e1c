/** Which deployment runs as which user: never two as one. */

import { expect, it } from 'vitest'

import { ProcessUsers } from '../../../../src/deployment/serving/process-users.ts'

const range = { first: 7, last: 8 }

it('Deployments have a user each, which they keep while others are free.', () => {
  const users = new ProcessUsers(range)
  expect(users.enter('a')).toEqual({ user: 7, isNew: true })
  expect(users.enter('a')).toEqual({ user: 7, isNew: false })
  users.leave('a')
  users.leave('a')
  expect(users.enter('b')).toEqual({ user: 8, isNew: true })
  expect(users.enter('a')).toEqual({ user: 7, isNew: false })
})

it('What is used up is refused with the name of the setting.', () => {
  const users = new ProcessUsers(range)
  users.enter('a')
  users.enter('b')
  expect(() => users.enter('c')).toThrow('All 2 users of --graphs-users (or HEDDLE_GRAPHS_USERS) ')
  users.leave('a')
  expect(users.enter('c')).toEqual({ user: 7, isNew: true })
  expect(() => users.enter('a')).toThrow('All 2 users')
})

it('A user goes to another deployment when the last process of the former one has ended.', () => {
  const users = new ProcessUsers({ first: 7, last: 7 })
  users.enter('a')
  users.enter('a')
  users.leave('a')
  expect(() => users.enter('b')).toThrow('All 1 users')
  users.leave('a')
  expect(users.enter('b')).toEqual({ user: 7, isNew: true })
})

it('Of deployments without processes, the one that began its last process first loses its user.',
  () => {
    const users = new ProcessUsers(range)
    for (const id of ['a', 'b', 'a']) users.enter(id)
    for (const id of ['a', 'b', 'a']) users.leave(id)
    expect(users.enter('c')).toEqual({ user: 8, isNew: true })
  })

it('Those that had users before the start have them again, and no other one has.', () => {
  const users = new ProcessUsers(range, new Map([['a', 7]]))
  expect(users.enter('b')).toEqual({ user: 8, isNew: true })
  expect(users.enter('a')).toEqual({ user: 7, isNew: false })
})

it('A user that could not be prepared is new to the next one, too.', () => {
  const users = new ProcessUsers(range)
  users.enter('a')
  users.leave('a')
  users.forget('a')
  expect(users.enter('a')).toEqual({ user: 7, isNew: true })
})
