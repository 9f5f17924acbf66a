/** Something to wait for that a test opens. */
export interface Gate {
  opened: Promise<void>
  open(): void
}

export function makeGate(): Gate {
  const gate: Gate = { opened: Promise.resolve(), open: () => undefined }
  gate.opened = new Promise((resolve) => {
    gate.open = resolve
  })
  return gate
}
