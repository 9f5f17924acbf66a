import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { TurnVersions } from '../src/http/turn.js'
import { makeStore } from './harness.js'

async function countReads(use: (turns: TurnVersions, server: EventEmitter, reads: () => number) => Promise<void>) {
  const { store, close } = await makeStore()
  let count = 0
  const server = new EventEmitter()
  const counted = {
    versions: () => {
      count++
      return store.versions()
    },
  }
  await use(new TurnVersions(counted, server as never), server, () => count)
  await close()
}

const socket = () => new EventEmitter() as Socket

test('requests of one turn of the event loop read the versions once, and the next turn reads them again', () =>
  countReads(async (turns, _server, reads) => {
    const versions = turns.read(socket())
    expect([turns.read(socket()), turns.read(socket()), reads()]).toEqual([versions, versions, 1])
    await nextTurn()
    await nextTurn()
    turns.read(socket())
    expect(reads()).toBe(2)
  }))

test('a second request of one socket in a turn reads the versions itself', () =>
  countReads(async (turns, _server, reads) => {
    const first = socket()
    turns.read(first)
    turns.read(socket())
    turns.read(first)
    expect(reads()).toBe(2)
  }))

test('with a thousand open sockets every request reads the versions itself, until they close', () =>
  countReads(async (turns, server, reads) => {
    const open = Array.from({ length: 1_000 }, socket)
    for (const each of open) server.emit('connection', each)
    for (const each of open.slice(0, 10)) turns.read(each)
    expect(reads()).toBe(10)
    for (const each of open) each.emit('close')
    for (const each of open.slice(10, 20)) turns.read(each)
    expect(reads()).toBe(10)
  }))
