import './style/index.css'
import { render } from 'preact'
import { App } from './app.js'
import { keepScroll } from './scroll.js'

keepScroll()
render(<App />, document.querySelector('#page')!)
