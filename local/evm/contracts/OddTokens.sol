// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.30;

/// Tokens as they occur in practice. Each reports a large balance, so that only its transfer is
/// odd.
abstract contract OddToken {
    event Transfer(address indexed from, address indexed to, uint256 value);

    function balanceOf(address) external pure returns (uint256) {
        return 1_000_000e6;
    }
}

/// Moves, and returns nothing: USDT, BNB.
contract SilentToken is OddToken {
    function transfer(address to, uint256 value) external {
        emit Transfer(msg.sender, to, value);
    }
}

/// Returns false instead of reverting, and moves nothing.
contract FalseToken is OddToken {
    function transfer(address, uint256) external pure returns (bool) {
        return false;
    }
}

/// Reverts with a reason: a blocklist, a pause.
contract BlockingToken is OddToken {
    function transfer(address, uint256) external pure returns (bool) {
        revert("this address is blocked");
    }
}

/// Reverts with a custom error, which carries no text.
contract WordlessToken is OddToken {
    error Blocked(address account);

    function transfer(address to, uint256) external pure returns (bool) {
        revert Blocked(to);
    }
}

/// Works until its switch is set: the state changes between the simulation and the block.
contract SwitchedToken is OddToken {
    enum Mood { Moving, Lying, Blocking, Burning }
    Mood public mood;

    function become(Mood next) external {
        mood = next;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        require(mood != Mood.Blocking, "switched off");
        while (mood == Mood.Burning) {}
        if (mood == Mood.Lying) return false;
        emit Transfer(msg.sender, to, value);
        return true;
    }
}

/// Accepts a new allowance only when there is none: USDT. Its transfer is an ordinary one.
contract ResettingToken is OddToken {
    mapping(address => mapping(address => uint256)) public allowance;

    function approve(address spender, uint256 value) external {
        require(value == 0 || allowance[msg.sender][spender] == 0);
        allowance[msg.sender][spender] = value;
    }

    function transfer(address to, uint256 value) external {
        emit Transfer(msg.sender, to, value);
    }
}

/// Tokens that keep real balances, and whose logs differ from the standard.
abstract contract KeptToken {
    event Transfer(address indexed from, address indexed to, uint256 value);

    uint8 public constant decimals = 6;
    mapping(address => uint256) public balanceOf;

    function mint(address to, uint256 units) external {
        balanceOf[to] += units;
        logMint(to, units);
    }

    /// Moves units without a log. Open to every caller: for tests alone.
    function shift(address from, address to, uint256 units) external {
        move(from, to, units);
    }

    function move(address from, address to, uint256 units) internal {
        require(balanceOf[from] >= units, "balance");
        balanceOf[from] -= units;
        balanceOf[to] += units;
    }

    function logMint(address to, uint256 units) internal virtual {
        emit Transfer(address(0), to, units);
    }
}

/// Logs a transfer as a burn and a mint: the coins of Compound III.
contract BurnMintToken is KeptToken {
    string public constant name = "Lent dollar";
    string public constant symbol = "lUSD";

    function transfer(address to, uint256 units) external returns (bool) {
        move(msg.sender, to, units);
        emit Transfer(msg.sender, address(0), units);
        emit Transfer(address(0), to, units);
        return true;
    }
}

/// Logs every movement with an event of its own: tokens that are coin and collectible (ERC-404).
contract OwnEventToken is KeptToken {
    event ERC20Transfer(address indexed from, address indexed to, uint256 amount);

    string public constant name = "Hybrid";
    string public constant symbol = "HYB";

    function transfer(address to, uint256 units) external returns (bool) {
        move(msg.sender, to, units);
        emit ERC20Transfer(msg.sender, to, units);
        return true;
    }

    function logMint(address to, uint256 units) internal override {
        emit ERC20Transfer(address(0), to, units);
    }
}

/// Logs nothing at all, and takes a hundredth of each payment.
contract SilentFeeToken is KeptToken {
    string public constant name = "Silent fee";
    string public constant symbol = "SFE";

    function transfer(address to, uint256 units) external returns (bool) {
        move(msg.sender, to, units - units / 100);
        balanceOf[msg.sender] -= units / 100;
        return true;
    }

    function logMint(address to, uint256 units) internal override {}
}

/// Returns false and moves nothing.
contract IdleToken is KeptToken {
    string public constant name = "Idle";
    string public constant symbol = "IDL";

    function transfer(address, uint256) external pure returns (bool) {
        return false;
    }
}

/// Logs a transfer as a burn alone.
contract BurnOnlyToken is KeptToken {
    string public constant name = "Burn only";
    string public constant symbol = "BRO";

    function transfer(address to, uint256 units) external returns (bool) {
        move(msg.sender, to, units);
        emit Transfer(msg.sender, address(0), units);
        return true;
    }
}

/// An ordinary token from before ERC-20 was final: its logs index nothing.
contract UnindexedToken {
    event Transfer(address from, address to, uint256 value);

    string public constant name = "Unindexed";
    string public constant symbol = "UNI1";
    uint8 public constant decimals = 6;
    mapping(address => uint256) public balanceOf;

    function mint(address to, uint256 units) external {
        balanceOf[to] += units;
        emit Transfer(address(0), to, units);
    }
}

/// Collectibles from before ERC-721, whose logs have the id in the place of an amount.
abstract contract EarlyCollectible {
    mapping(uint256 => address) public ownerOf;

    function mint(address to, uint256 id) external {
        ownerOf[id] = to;
        log(address(0), to, id);
    }

    function transfer(address to, uint256 id) external {
        require(ownerOf[id] == msg.sender, "owner");
        ownerOf[id] = to;
        log(msg.sender, to, id);
    }

    function log(address from, address to, uint256 id) internal virtual;
}

/// Its logs index nothing (CryptoKitties).
contract OldCollectible is EarlyCollectible {
    event Transfer(address from, address to, uint256 tokenId);

    string public constant name = "Old collectible";
    string public constant symbol = "OLD";

    function log(address from, address to, uint256 id) internal override {
        emit Transfer(from, to, id);
    }
}

/// Its logs index the parties, and have the id in the data.
contract DataCollectible is EarlyCollectible {
    event Transfer(address indexed from, address indexed to, uint256 tokenId);

    string public constant name = "Swords";
    string public constant symbol = "SWD";

    function log(address from, address to, uint256 id) internal override {
        emit Transfer(from, to, id);
    }
}

/// Wraps ether as WETH9 does: wrapping and unwrapping log no transfer.
contract WrappedEther is KeptToken {
    event Deposit(address indexed dst, uint256 wad);
    event Withdrawal(address indexed src, uint256 wad);

    string public constant name = "Wrapped Ether";
    string public constant symbol = "WETH";

    function deposit() external payable {
        balanceOf[msg.sender] += msg.value;
        emit Deposit(msg.sender, msg.value);
    }

    function withdraw(uint256 wad) external {
        require(balanceOf[msg.sender] >= wad, "balance");
        balanceOf[msg.sender] -= wad;
        emit Withdrawal(msg.sender, wad);
        (bool ok, ) = msg.sender.call{value: wad}("");
        require(ok);
    }

    function transfer(address to, uint256 units) external returns (bool) {
        move(msg.sender, to, units);
        emit Transfer(msg.sender, to, units);
        return true;
    }
}
