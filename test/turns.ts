/** How many turns the event loop makes while a work is under way: thousands beside a thread, a few where it is held. */
export async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const turn = () => {
    turns++
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  try {
    await work()
  } finally {
    isOver = true
  }
  return turns
}
